"""The rule kinds of evaluation and compilation, and what lowering rules build programs with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from bindax_core._extension_points import runtime
from bindax_core.kernel._jaxpr import ClosedJaxpr, Jaxpr
from bindax_core.kernel._rules import RuleKind, core_kinds, list_result

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


class RuleFamily:
    """Rule kinds that differ in a target, such as ``lowering["stablehlo"]``."""

    def __init__(self, name: str, make: Callable[[str], RuleKind]) -> None:
        self.name = name
        self._make = make
        self._lock = threading.RLock()
        self._kinds: dict[str, RuleKind] = {}

    def __getitem__(self, target: str) -> RuleKind:
        with self._lock:  # two threads that ask first get one kind
            if target not in self._kinds:
                self._kinds[target] = self._make(f"{self.name}.{target}")
            return self._kinds[target]

    def __iter__(self) -> Iterator[RuleKind]:
        return iter(list(self._kinds.values()))


def _set_options(
    primitive: Primitive, function: Callable[..., Any], options: dict[str, Any]
) -> Callable[..., Any]:
    primitive.takes_values = bool(options.get("on_values", False))
    primitive.prefers_compiler = bool(options.get("slow", False))
    return function


impl: RuleKind = RuleKind(
    "impl", adapt=_set_options, canonical=True, signature="(*arrays, **params) -> array"
)
"""The evaluation on NumPy arrays, which do not warn of what floats overflow or divide; with
``on_values=True``, on the operands as they are given, and NumPy as the user has set it.
``slow=True`` says that NumPy has no fast form of it: the operation is compiled where something is
installed that compiles."""

lowering: RuleFamily = RuleFamily(
    "lowering",
    lambda name: RuleKind(
        name,
        adapt=list_result,
        canonical=name == "lowering.stablehlo",
        signature="(ctx, *ir_values, **params) -> ir_value",
    ),
)
"""The translation into a compiler's language, one kind for each target; ``alone=False`` says that
it works inside of the program of another primitive only."""

stablehlo: RuleKind = lowering["stablehlo"]

expansion: RuleKind = RuleKind("expansion", signature="(*avals, **params) -> ClosedJaxpr")
"""The jaxpr that an application stands for, of a primitive that is made of others."""

core_kinds += (impl, stablehlo, expansion)


def is_high(jaxpr: Jaxpr | ClosedJaxpr) -> bool:
    """Tell whether operations in a jaxpr, at any depth, stand for others.

    >>> is_high(Jaxpr([], [], [], []))
    False
    """
    if isinstance(jaxpr, Jaxpr):
        if any(expansion.find(eqn.primitive) is not None for eqn in jaxpr.eqns):
            return True
        return any(map(is_high, jaxpr.programs))
    if "is_high" not in jaxpr.cache:  # many equations may share a jaxpr
        jaxpr.cache["is_high"] = is_high(jaxpr.jaxpr)
    return bool(jaxpr.cache["is_high"])


runtime.is_high = is_high


# ---------------------------------------------------------------------------------- lowering


class LoweringContext(Protocol):
    """The builder for ``lowering["stablehlo"]`` rules; values are opaque to the rule.

    Attributes:
        avals_in: the types of the operands.
        avals_out: the types of the results.
        platform: the kind of device that is compiled for.
        device_count: the number of devices that the program is divided among.
    """

    avals_in: Sequence[Any]
    avals_out: Sequence[Any]
    platform: str
    device_count: int

    def op(
        self,
        name: str,
        operands: Sequence[Any],
        result_avals: Sequence[Any] | None = None,
        attributes: Mapping[str, str] = ...,
        regions: Sequence[Region] = (),
    ) -> list[Any]:
        """An operation; attributes are text; the result types default to ``avals_out``."""

    def constant(self, value: Any) -> Any:
        """A constant from a NumPy value."""

    def inline(
        self, jaxpr: ClosedJaxpr, values: Sequence[Any], name: str | None = None
    ) -> list[Any]:
        """The operations of a jaxpr, in place; with a name around those of its equations."""

    def call(self, jaxpr: ClosedJaxpr, values: Sequence[Any], name: str) -> list[Any]:
        """A call of a program that becomes a function, shared by its calls."""

    def composite(
        self,
        jaxpr: ClosedJaxpr,
        values: Sequence[Any],
        name: str,
        attributes: Mapping[str, Any],
        version: int,
    ) -> list[Any]:
        """The same under a name that a compiler may know, with values that it is told."""

    def broadcast(self, value: Any, aval_from: Any, aval_to: Any, dimensions: Sequence[int]) -> Any:
        """A value repeated along new axes; axis i becomes axis ``dimensions[i]``."""

    def sharding(self, sharding: Any, ndim: int) -> str:
        """A ``NamedSharding`` of an array as the text of an attribute of Shardy's, ``sdy``."""

    def whole_along(self, value: Any, aval: Any, axes: Sequence[int]) -> Any:
        """A value that is not divided along some axes, and along others as the compiler decides."""

    def inspect_sharding(self, value: Any, callback: Callable[[Any], None]) -> None:
        """Call a function with the sharding of the first operand, when it is decided."""

    def mesh(self, mesh: Any) -> str:
        """The symbol of a mesh, declared where the program needs it, without ``@``."""

    def enter_manual(self, mesh: Any, names: Sequence[Any]) -> None:
        """Say that a region is the program of one device along some axes of a mesh."""

    def callback(
        self,
        function: Callable[..., Any],
        operands: Sequence[Any],
        result_avals: Sequence[Any],
        *,
        pure: bool = False,
        ordered: bool = False,
    ) -> list[Any]:
        """A call of a Python function on the host, with NumPy arrays; dropped only if pure."""


class Region(NamedTuple):
    """A region of an operation, such as the body of a reduction.

    Attributes:
        arg_avals: the types of the region's arguments.
        build: ``(ctx, *values) -> sequence of values``, builds the body.
    """

    arg_avals: Sequence[Any]
    build: Callable[..., Sequence[Any]]


kernel_sources: list[Callable[[str, str], bool]] = []
"""Functions of the name of a kernel of another language and of a platform.

Each tells whether there is such a kernel, and has the compiler know it. A package that registers
kernels only when its own primitives are lowered adds one, for programs that were made elsewhere.
"""
