"""Tables of the modules of a model, with what they take, give and hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import is_value, tree_leaves, typeof
from bindax_nnx.filters import Path
from bindax_nnx.lift.remat_eval_shape import eval_shape
from bindax_nnx.module import Module, iter_modules
from bindax_nnx.split_merge import clone
from bindax_nnx.variables import Variable

Calls = dict[Path, tuple[str, str]]


def tabulate(model: Module, *args: Any, **kwargs: Any) -> str:
    """A table with a row for each module: path, type, inputs, outputs and its own variables.

    Args:
        model: the model, which is not changed.
        args: arguments of a call, or their types; nothing is computed.
        kwargs: keyword arguments.

    >>> import numpy as np
    >>> from bindax_nnx.layers.linear import Linear
    >>> from bindax_nnx.rngs import Rngs
    >>> print(tabulate(Linear(3, 4, rngs=Rngs(0)), np.ones((2, 3), np.float32)))
    path | type   | inputs       | outputs      | variables
    -----+--------+--------------+--------------+-----------------
    .    | Linear | float32[2,3] | float32[2,4] | Param: 16 (64 B)
    total Param: 16 (64 B)
    """
    calls: Calls = {}
    copy = clone(model)
    for path, module in list(iter_modules(copy)):
        object.__setattr__(module, "__class__", _recording(type(module), path, calls))
    eval_shape(lambda model, *args, **kwargs: model(*args, **kwargs), copy, *args, **kwargs)
    rows = []
    for path, module in sorted(iter_modules(model), key=lambda pair: tuple(map(str, pair[0]))):
        taken, given = calls.get(path, ("", ""))
        own = [x for x in module.__dict__.values() if isinstance(x, Variable)]
        name = ".".join(map(str, path)) or "."
        rows.append((name, type(module).__name__, taken, given, _sizes(own)))
    held = {id(x): x for _, m in iter_modules(model) for x in m.__dict__.values()}
    total = _sizes([x for x in held.values() if isinstance(x, Variable)])
    return _text([("path", "type", "inputs", "outputs", "variables"), *rows], total)


def _recording(kind: Any, path: Path, calls: Calls) -> type:
    """A class like another one whose calls are noted."""

    class Recording(kind):  # type: ignore[misc]
        __slots__ = ()

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            out = super().__call__(*args, **kwargs)
            calls.setdefault(path, (_types((args, kwargs)), _types(out)))
            return out

    Recording.__name__ = kind.__name__
    return Recording


def _types(tree: Any) -> str:
    return ", ".join(typeof(x).str_short() for x in tree_leaves(tree) if is_value(x))


def _sizes(variables: Sequence[Variable[Any]]) -> str:
    """The count of numbers that variables hold, and of their bytes, for each kind."""
    found: dict[str, list[int]] = {}
    for variable in variables:
        counts = found.setdefault(type(variable).__name__, [0, 0])
        for x in tree_leaves(variable.raw_value):
            aval = typeof(x)
            counts[0] += aval.size
            counts[1] += aval.size * aval.dtype.itemsize
    return ", ".join(f"{kind}: {n:,} ({_bytes(size)})" for kind, (n, size) in sorted(found.items()))


def _bytes(size: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"


def _text(rows: Sequence[tuple[str, ...]], total: str) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join([*lines, f"total {total}"])
