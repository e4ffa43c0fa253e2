"""A transformation, and the functions that it is checked on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from bindax_core.extend import (
    describe_function,
    is_value,
    tree_leaves,
    typeof,
)
from bindax_testing._cases import Call, read_only
from bindax_testing._compare import Mismatch, NotApplicable
from bindax_testing._functions._call import varied

Function = Callable[..., Any]


def _same(x: Any) -> Any:
    return x


@attrs.frozen(eq=False)
class TransformationSample:
    """A transformation with what its arguments and results mean; made by ``transformation``.

    Attributes:
        transform: takes a function, and returns the function that it becomes.
        lift: makes the argument that stands for an array, and for nothing more.
        known: makes an argument with what the transformation is about, such as bounds.
        value: takes a result of the function that was made, and returns that of the function.
        skip: checks, programs and primitives to leave out, by name, each with the reason.

    >>> TransformationSample(lambda f: f).value(1.0)
    1.0
    """

    transform: Callable[[Function], Function]
    lift: Callable[[Any], Any] = _same
    known: Callable[[Any], Any] = _same
    value: Callable[[Any], Any] = _same
    skip: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def name(self) -> str:
        """Its name in reports."""
        return str(getattr(self.transform, "__name__", type(self.transform).__name__))

    @property
    def place(self) -> str:
        """Its name, with the file and line of its definition."""
        return describe_function(self.transform)

    def values(self, function: Function, *operands: Any) -> list[Any]:
        """The results of a function, as the transformed function has them."""
        out = self.value(self.transform(function)(*_made("lift", self.lift, operands)))
        return _arrays(out, "the value of the result")

    def leaves(self, function: Function, *operands: Any) -> list[Any]:
        """All arrays in the result of the transformed function, on arguments with information."""
        out = self.transform(function)(*_made("known", self.known, operands))
        return _arrays(out, "the result")


def _made(what: str, function: Callable[[Any], Any], operands: Sequence[Any]) -> list[Any]:
    """The arguments for operands; of a type that there are none for, nothing can be said."""
    made = []
    for x in operands:
        try:
            made.append(function(x))
        except Exception as error:
            raise NotApplicable(
                f"{what} takes no {typeof(x).str_short()}: {type(error).__name__}: {error}"
            ) from error
    return made


def _arrays(tree: Any, what: str) -> list[Any]:
    leaves = tree_leaves(tree)
    for x in leaves:
        if not is_value(x):
            raise Mismatch(f"{what} has a leaf that is no array: {x!r:.80}")
    return leaves


@attrs.frozen(eq=False)
class Program(Call):
    """A function of flat arrays that a transformation is checked on.

    Attributes:
        given: the transformation.
        function: the function of arrays; it returns a list of arrays.
        draws: some lists of operands of the same types; the first is that of the call.
        label: its name.
        skip: checks to leave out, by name, each with the reason.
        seed: what random directions are drawn from.
        no_derivative: the positions of operands that no derivative is taken along.
        plain: a function of the same operations without what the program is about; or None.
        log: the list to which the effects of the function add what they are given; or None.
    """

    given: TransformationSample
    function: Function
    draws: tuple[tuple[Any, ...], ...] = attrs.field(converter=read_only)
    label: str = ""
    skip: Mapping[str, str] = attrs.field(factory=dict)
    seed: int = 0
    no_derivative: tuple[int, ...] = ()
    plain: Function | None = None
    log: list[Any] | None = None

    def call(self, *operands: Any) -> list[Any]:
        """Call the function with other operands."""
        return list(self.function(*operands))

    def values(self, *operands: Any) -> list[Any]:
        """Call the transformed function; the values of its results."""
        return self.given.values(self.fresh(), *operands)

    def leaves(self, *operands: Any) -> list[Any]:
        """Call the transformed function with information; all arrays in its result."""
        return self.given.leaves(self.fresh(), *operands)

    @property
    def description(self) -> str:
        """The function and the types of its operands, in short."""
        return f"{self.label}({self.types})"


@attrs.frozen(eq=False)
class TransformationProgram:
    """A function that transformations are checked on; made by ``transformation_program``.

    Attributes:
        label: its name in reports.
        function: the function of arrays; it returns a list of arrays.
        operands: its operands.
        plain: a function of the same operations without what the program is about; or None.
        log: the list to which the effects of the function add what they are given; or None.

    >>> TransformationProgram("twice", lambda x: [x + x], (1.0,)).label
    'twice'
    """

    label: str
    function: Function
    operands: tuple[Any, ...]
    plain: Function | None = None
    log: list[Any] | None = None

    def program(self, given: TransformationSample, seed: int) -> Program:
        """The function on its operands, and on others like them."""
        return Program(
            given,
            self.function,
            varied(self.operands),
            self.label,
            seed=seed,
            plain=self.plain,
            log=self.log,
        )


def transformation_program(
    label: str,
    function: Function,
    *operands: Any,
    plain: Function | None = None,
    log: list[Any] | None = None,
) -> TransformationProgram:
    """Make a function that transformations are checked on, for the hook ``bindax_function_checks``.

    Args:
        label: its name in reports, such as ``"scan"``.
        function: a function of arrays that returns a list of arrays.
        operands: arrays and numbers to call it with.
        plain: a function of the same operations without what the program is about, such as a loop
            that is unrolled: both have to become the same.
        log: a list to which effects of the function add what they are given: they have to happen
            in the same order, and once each.

    >>> transformation_program("twice", lambda x: [x + x], 1.0).operands
    (1.0,)
    """
    return TransformationProgram(label, function, operands, plain, log)


def given_programs(
    given: TransformationSample, made: Sequence[TransformationProgram], seed: int
) -> list[Program]:
    """The programs that a transformation is checked on, but for those that it leaves out."""
    return [one.program(given, seed) for one in made if one.label not in given.skip]
