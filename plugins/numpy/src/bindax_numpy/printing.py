"""Arrays as texts. Options are those of NumPy, which prints the elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import is_value, typeof
from bindax_numpy.creation import asarray

get_printoptions = np.get_printoptions
set_printoptions = np.set_printoptions
printoptions = np.printoptions


def array_repr(
    arr: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """The text that shows the elements and the dtype of an array.

    Args:
        arr: an array.
        max_line_width: after how many characters a line is broken.
        precision: how many digits are shown behind the point.
        suppress_small: whether very small numbers are shown as 0.

    >>> jnp.array_repr(jnp.array([1.23456, 1e-9]), precision=2, suppress_small=True)
    'Array([1.23, 0.  ], dtype=float32)'
    """
    with _options(max_line_width, precision, suppress_small):
        return repr(_array(arr))


def array_str(
    a: Any,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """The text that shows the elements of an array; arguments as for ``array_repr``.

    >>> jnp.array_str(jnp.array([1.23456, 2.0]), precision=2)
    '[1.23 2.  ]'
    """
    with _options(max_line_width, precision, suppress_small):
        return str(_array(a))


def _array(x: Any) -> Any:
    return x if is_value(x) and typeof(x).shape else asarray(x)


def _options(width: int | None, precision: int | None, suppress: bool | None) -> Any:
    given = {"linewidth": width, "precision": precision, "suppress": suppress}
    return np.printoptions(**{k: v for k, v in given.items() if v is not None})  # type: ignore[arg-type]
