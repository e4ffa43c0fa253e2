"""Arrays from files, texts and iterators, into files and texts: NumPy's formats and options."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np
from numpy import get_printoptions as get_printoptions
from numpy import printoptions as printoptions
from numpy import set_printoptions as set_printoptions

from bindax_core.extend import Array, is_value, typeof
from bindax_lax_basic.extend import canonical_dtype, named_dtype
from bindax_numpy.creation import asarray


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write an array to a file in NumPy's format ``.npy``.

    Args:
        file: a path or an open binary file.
        arr: an array, known while tracing.
        allow_pickle: accepted for compatibility; arrays hold no objects.

    >>> import io
    >>> file = io.BytesIO()
    >>> jnp.save(file, jnp.arange(3))
    >>> _ = file.seek(0)
    >>> jnp.load(file)
    Array([0, 1, 2], dtype=int32)
    """
    np.save(file, np.asarray(arr), allow_pickle=allow_pickle)


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Write several arrays to a file in NumPy's format ``.npz``.

    Args:
        file: a path or an open binary file.
        *args: arrays, which are called ``arr_0`` and so on.
        **kwds: arrays by name.

    >>> import io
    >>> file = io.BytesIO()
    >>> jnp.savez(file, x=jnp.arange(3))
    >>> _ = file.seek(0)
    >>> jnp.load(file)["x"]
    array([0, 1, 2], dtype=int32)
    """
    named = {name: np.asarray(x) for name, x in kwds.items()}
    np.savez(file, *[np.asarray(x) for x in args], **named)  # type: ignore[arg-type]


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """An array from a file in NumPy's format.

    Args:
        file: a path or an open binary file; of the format ``.npz``, and of arrays of objects, the
            result is NumPy's.
        *args: further arguments of ``numpy.load``.
        **kwargs: likewise.

    >>> import io
    >>> file = io.BytesIO()
    >>> jnp.save(file, jnp.ones(2, "bfloat16"))
    >>> _ = file.seek(0)
    >>> jnp.load(file)
    Array([1, 1], dtype=bfloat16)
    """
    found = np.load(file, *args, **kwargs)
    if not isinstance(found, np.ndarray) or found.dtype.hasobject:
        return found
    if found.dtype == np.dtype("V2"):
        # NumPy writes the one float of 16 bits that it does not know as two bytes.
        found = found.view(ml_dtypes.bfloat16)
    return asarray(found)


def fromfile(
    file: Any, dtype: Any = float, count: int = -1, sep: str = "", offset: int = 0
) -> Array:
    """An array from the bytes or the text of a file.

    Args:
        file: a path or an open file.
        dtype: the dtype of the elements; by default the default float.
        count: how many; -1 for all.
        sep: what is between the numbers of a text; "" for bytes.
        offset: the place of the first byte.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     np.arange(3.0, dtype=np.float32).tofile(file.name)
    ...     jnp.fromfile(file.name)
    Array([0., 1., 2.], dtype=float32)
    """
    return Array.from_numpy(np.fromfile(file, named_dtype(dtype), count, sep, offset))


def fromiter(iter: Iterable[Any], dtype: Any = None, count: int = -1) -> Array:
    """An array from what an iterator gives.

    Args:
        iter: gives numbers.
        dtype: the dtype of the elements; by default the default float.
        count: how many; -1 for all.

    >>> jnp.fromiter((x * x for x in range(3)), int)
    Array([0, 1, 4], dtype=int32)
    """
    wanted = canonical_dtype(float if dtype is None else dtype)
    return Array.from_numpy(np.fromiter(iter, wanted, count))


def fromstring(string: str, dtype: Any = float, count: int = -1, *, sep: str) -> Array:
    """An array from the numbers in a text.

    Args:
        string: the text.
        dtype: the dtype of the elements; by default the default float.
        count: how many; -1 for all.
        sep: what is between the numbers.

    >>> jnp.fromstring("1 2 3", int, sep=" ")
    Array([1, 2, 3], dtype=int32)
    """
    return Array.from_numpy(np.fromstring(string, canonical_dtype(dtype), count, sep=sep))


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
