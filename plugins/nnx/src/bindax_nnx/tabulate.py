"""Tables of the calls of a model, with what its modules take, give and hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bindax_nnx._recorded_calls import CallInfo, Recorder, described
from bindax_nnx._tables import centered, table
from bindax_nnx.counts import Size, kind_of, size_of, size_text, total
from bindax_nnx.filters import Path
from bindax_nnx.graph import children_of, is_reference
from bindax_nnx.variables import Variable


def tabulate(
    model: Any,
    *input_args: Any,
    depth: int | None = None,
    method: str = "__call__",
    row_filter: Callable[[CallInfo], bool] = lambda call: True,
    table_kwargs: Mapping[str, Any] | None = None,
    column_kwargs: Mapping[str, Any] | None = None,
    console_kwargs: Mapping[str, Any] | None = None,
    compute_flops: bool = False,
    compute_vjp_flops: bool = False,
    **input_kwargs: Any,
) -> str:
    """A table of a call of a model: a row for each call of a method, and what its object holds.

    Args:
        model: the model, which is not changed.
        input_args: arguments of the call, or their types; nothing is computed.
        depth: how long the paths in the table are at most; all are there when omitted.
        method: the name of the method that is called.
        row_filter: a function of a call, with attributes ``path``, ``type``, ``inputs``,
            ``outputs``, ``flops``, ``vjp_flops``, that tells whether it has a row.
        table_kwargs: accepted for programs that say it; the table is plain text.
        column_kwargs: likewise.
        console_kwargs: likewise; the table is as wide as what it shows.
        compute_flops: whether to show how many floating-point operations each call takes.
        compute_vjp_flops: whether to show how many it takes with its derivative.
        input_kwargs: keyword arguments of the call.

    >>> import numpy as np
    >>> from bindax_nnx.layers.linear import Linear
    >>> from bindax_nnx.rngs import Rngs
    >>> print(tabulate(Linear(3, 4, rngs=Rngs(0)), np.ones((2, 3), np.float32)))
                                Linear Summary
    ┏━━━━━━┳━━━━━━━━┳━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━┓
    ┃ path ┃ type   ┃ inputs       ┃ outputs      ┃ Param                ┃
    ┡━━━━━━╇━━━━━━━━╇━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━┩
    │      │ Linear │ float32[2,3] │ float32[2,4] │ bias: float32[4]     │
    │      │        │              │              │ kernel: float32[3,4] │
    │      │        │              │              │                      │
    │      │        │              │              │ 16 (64 B)            │
    ├──────┼────────┼──────────────┼──────────────┼──────────────────────┤
    │      │        │              │ Total        │ 16 (64 B)            │
    └──────┴────────┴──────────────┴──────────────┴──────────────────────┘
    <BLANKLINE>
                         Total Parameters: 16 (64 B)
    """
    calls = Recorder(compute_flops, compute_vjp_flops).run(model, method, input_args, input_kwargs)
    holdings: dict[Path, _Holding] = {}
    whole = _collect(model, (), set(), holdings)
    shown = [x for x in calls if (depth is None or len(x.path) <= depth) and row_filter(x)]
    counts = {"flops": compute_flops, "vjp_flops": compute_vjp_flops}
    columns = [name for name, is_shown in counts.items() if is_shown]
    return _shown(type(model).__name__, shown, columns, holdings, whole)


def _shown(
    name: str,
    calls: Sequence[CallInfo],
    columns: Sequence[str],
    holdings: Mapping[Path, _Holding],
    whole: _Holding,
) -> str:
    """The table of calls with some of their counts."""
    kinds = sorted(whole.sizes)
    rows = [
        [
            *("/".join(map(str, call.path)), call.type.__name__, call.inputs, call.outputs),
            *[str(getattr(call, column)) for column in columns],
            *[holdings[call.owner].shown(kind) for kind in kinds],
        ]
        for call in calls
    ]
    head = ["path", "type", "inputs", "outputs", *columns, *kinds]
    empty = [""] * (3 + len(columns))
    foot = [*empty, "Total", *[size_text(whole.sizes[kind]) for kind in kinds]]
    text = table(f"{name} Summary", head, rows, foot)
    caption = f"Total Parameters: {size_text(total(whole.sizes.values()))}"
    return f"{text}\n\n{centered(caption, len(text.splitlines()[1]))}"


class _Holding:
    """The variables of an object, by kind: its own by name, and the sizes with those below it.

    A variable that several objects have counts for the first.
    """

    def __init__(self) -> None:
        self.own: dict[str, dict[str, Any]] = {}
        self.sizes: dict[str, Size] = {}

    def add(self, kind: str, size: Size) -> None:
        """Count numbers and bytes of a kind."""
        self.sizes[kind] = total([self.sizes.get(kind, (0, 0)), size])

    def shown(self, kind: str) -> str:
        """The cell of a kind."""
        parts = [described(self.own[kind])] if kind in self.own else []
        sizes = [size_text(self.sizes[kind])] if kind in self.sizes else []
        return "\n\n".join([*parts, *sizes])


def _collect(node: Any, path: Path, met: set[int], found: dict[Path, _Holding]) -> _Holding:
    """Note by path the variables of a node and of those below it; gives those of the node."""
    holding = found[path] = _Holding()
    for key, value in children_of(node):
        if is_reference(value):
            if id(value) in met:
                continue
            met.add(id(value))
        if isinstance(value, Variable):
            kind = kind_of(value)
            metadata = value._metadata
            if kind != "RngState":
                shown = {"value": value.raw_value, **metadata} if metadata else value.raw_value
                holding.own.setdefault(kind, {})[str(key)] = shown
            holding.add(kind, size_of(value))
        else:
            for kind, size in _collect(value, (*path, key), met, found).sizes.items():
                holding.add(kind, size)
    return holding
