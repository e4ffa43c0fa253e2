"""The plugin that the registry loads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bindax_core.extend import Primitive, ValueType, hookimpl, typeof
from bindax_export._dimensions import SymbolicDimension


def _number(x: Any, aval: Any) -> Any:
    return np.asarray(int(x), aval.dtype)  # which raises, and says what is unknown


@hookimpl
def bindax_value_types() -> Iterable[Any]:
    """Sizes are weakly typed integers in the programs that they belong to."""
    return [ValueType(SymbolicDimension, lambda x: typeof(0), _number)]


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Calls of exported programs, made when the kit asks."""
    from bindax_export._samples import samples

    return samples()


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """The call of an exported program."""
    from bindax_export._primitive import call_exported_p

    return [call_exported_p]
