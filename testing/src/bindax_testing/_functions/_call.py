"""A function with operands: what checks of functions look at."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import (
    PyTreeDef,
    as_array,
    describe_function,
    is_differentiable,
    is_extended,
    is_value,
    keystr,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
    typeof,
)
from bindax_testing._cases import DRAWS, Call, read_only
from bindax_testing._compare import Mismatch, host, wide


def _inner(function: Any) -> Any:
    """The function behind partial applications and decorators."""
    while isinstance(function, partial):
        function = function.func
    return inspect.unwrap(function) if callable(function) else function


@attrs.frozen(eq=False)
class Function:
    """A function of flat arrays, made of one of trees.

    Attributes:
        given: the function as the user has it.
        given_args: the arguments as the user has them.
        function: the function of trees that is checked; the same, or what an adapter made of it.
        tree: the structure of its arguments.
        statics: arguments that are no arrays, by their position among the leaves.
        paths: the name of each leaf.
    """

    given: Any
    given_args: tuple[Any, ...]
    function: Callable[..., Any]
    tree: PyTreeDef
    statics: Mapping[int, Any]
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name in reports."""
        inner = _inner(self.given)
        name = getattr(self.given, "__name__", None) or getattr(inner, "__name__", None)
        return str(name or type(self.given).__name__)

    @property
    def is_adapted(self) -> bool:
        """True if the arguments that are checked are not those that the user gave."""
        return self.function is not self.given

    @property
    def place(self) -> str:
        """Its name, with the file and line of its definition."""
        given = self.given
        if inspect.isroutine(_inner(given)):
            return describe_function(given)
        inner = getattr(given, "fun", None) or vars(type(given)).get("__call__", given)
        described = describe_function(_inner(inner))
        return described.replace("__call__", f"{type(given).__qualname__}.__call__", 1)

    def arguments(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments that flat operands stand for."""
        values = iter(operands)
        leaves = [
            self.statics[i] if i in self.statics else next(values)
            for i in range(self.tree.num_leaves)
        ]
        return tuple(tree_unflatten(self.tree, leaves))

    def __call__(self, *operands: Any) -> list[Any]:
        """Call it with flat operands; the leaves of its result."""
        given = [as_array(x) if isinstance(x, np.ndarray) else x for x in operands]
        leaves, _ = tree_flatten(self.function(*self.arguments(given)))
        for i, x in enumerate(leaves):
            if not is_value(x):
                raise Mismatch(f"leaf {i} of the result is no array: {x!r:.80}")
        return leaves


@attrs.frozen(eq=False)
class FunctionCall(Call):
    """A call of a function with concrete operands.

    Attributes:
        function: the function of flat arrays.
        draws: some lists of operands of the same types; the first is that of the call.
        label: where they come from.
        skip: checks to leave out, by name, each with the reason.
        seed: what random directions are drawn from.
        no_derivative: the positions of operands that no derivative is taken along.
        linear: the positions of operands in which the function is said to be linear.
        is_drawn: whether operands are drawn from strategies, whose domain other values may leave.

    >>> made, values = flat_function(abs, (-1.5,), abs, (-1.5,))
    >>> call = FunctionCall(made, [values])
    >>> call.operands, call.call(*call.operands)
    ((-1.5,), [1.5])
    """

    function: Function
    draws: tuple[tuple[Any, ...], ...] = attrs.field(converter=read_only)
    label: str = ""
    skip: Mapping[str, str] = attrs.field(factory=dict)
    seed: int = 0
    no_derivative: tuple[int, ...] = ()
    linear: tuple[int, ...] = ()
    is_drawn: bool = False

    def call(self, *operands: Any) -> list[Any]:
        """Call the function with other operands; gives the list of its results."""
        return self.function(*operands)

    def nearby(self) -> FunctionCall | None:
        """The call with floating-point operands a little off these; None for drawn ones."""
        if self.is_drawn or not self.positions:
            return None
        return self.with_draws([self._moved(row) for row in self.draws])

    def _moved(self, row: Sequence[Any]) -> list[Any]:
        rng = self.rng()
        return [
            np.asarray(wide(x) + 0.05 * rng.uniform(-1, 1, aval.shape)).astype(aval.dtype)
            if i in self.positions
            else x
            for i, (x, aval) in enumerate(zip(row, self.avals, strict=True))
        ]

    @property
    def description(self) -> str:
        """The function and the types of its operands, in short."""
        return f"{self.function.name}({self.types})"


def flat_function(
    given: Any, given_args: tuple[Any, ...], function: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[Function, list[Any]]:
    """A function of flat arrays, and the arrays among its arguments."""
    paths, tree = tree_flatten_with_path(args)
    names = tuple(f"args{keystr(path)}" for path, _ in paths)
    statics = {i: x for i, (_, x) in enumerate(paths) if not is_value(x)}
    values = [x for i, (_, x) in enumerate(paths) if i not in statics]
    values = [np.asarray(x) if isinstance(x, np.generic) else x for x in values]
    return Function(given, given_args, function, tree, statics, names), values


def varied(values: Sequence[Any], count: int = DRAWS) -> list[list[Any]]:
    """The values, and others like them that are likely inside the domain of a function.

    Floating-point values are multiplied by numbers a little less than 1, which keeps signs, order,
    symmetry and intervals around zero. Integers change places, so that indices stay valid.
    """
    return [[_variation(x, number) for x in values] for number in range(count)]


def _variation(x: Any, number: int) -> Any:
    aval = typeof(x)
    if not number or is_extended(aval.dtype):
        return x
    if is_differentiable(aval.dtype):
        scaled = np.asarray(host(x) * (1.0 - 0.07 * number)).astype(aval.dtype)
        return scaled.item() if isinstance(x, float | complex) else scaled
    return np.roll(host(x), number) if aval.size > 1 else x
