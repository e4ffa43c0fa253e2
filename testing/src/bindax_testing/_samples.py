"""Samples of operations and containers that a plugin gives, and checks of its own rules.

An author writes one line for the usual operation. Values are drawn from a seed, so that a failure
can be repeated, and are distinct within an operand, so that maxima and sorts have no ties by
accident.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from bindax_core.extend import (
    Array,
    Primitive,
    RuleKind,
    ShapedArray,
    is_extended,
    logical_array,
    typeof,
)
from bindax_testing._compare import NotApplicable
from bindax_testing._domains import REAL, Domain, NumPyArray, Shape, anything

if TYPE_CHECKING:
    from bindax_testing._cases import Case

FLOATS = ("float32", "float64")


@attrs.frozen
class Operand:
    """The type of an operand and the domain of its values; made by ``array``.

    Attributes:
        shape: the sizes of its axes.
        dtype: its dtype.
        domain: where its values come from: a ``Domain``, or a function from a random generator,
            the shape and the dtype to an array. For an extended dtype, such as that of random keys,
            it gives the array that represents the operand.

    >>> isinstance(array((3,)), Operand)
    True
    """

    shape: Shape
    dtype: np.dtype[Any]
    domain: Domain | Callable[[np.random.Generator, Shape, np.dtype[Any]], NumPyArray] = REAL

    @property
    def aval(self) -> ShapedArray:
        """Its abstract value."""
        return ShapedArray(self.shape, self.dtype)

    def draw(self, rng: np.random.Generator) -> Any:
        """Values from a random generator: a NumPy array, or an ``Array`` of an extended dtype."""
        if not is_extended(self.dtype):
            return self._drawn(rng, self.aval)
        parts = self._drawn(rng, self.aval.physical())
        return Array.from_numpy(logical_array(parts, self.dtype), self.aval)

    def _drawn(self, rng: np.random.Generator, aval: ShapedArray) -> NumPyArray:
        made = (
            self.domain.draw(rng, aval.shape, aval.dtype)
            if isinstance(self.domain, Domain)
            else np.asarray(self.domain(rng, aval.shape, aval.dtype))
        )
        if made.shape != aval.shape or made.dtype != aval.dtype:
            raise TypeError(
                f"the domain of a sample operand must give {aval.str_short()}, but gave "
                f"{made.dtype.name}{list(made.shape)}."
            )
        return made


def array(shape: Sequence[int] = (2, 3), dtype: Any = "float32", domain: Any = None) -> Operand:
    """An operand for samples.

    Args:
        shape: the sizes of its axes.
        dtype: its dtype; an extended one, such as ``bindax_random.key_dtype()``, too.
        domain: where its values come from, as of ``Operand``. Without one, numbers come from
            ``REAL``, and the integers that represent an extended dtype from their whole range.

    >>> from bindax_testing import POSITIVE
    >>> array((3,), "float64", POSITIVE).aval
    ShapeDtypeStruct(shape=(3,), dtype=float64)
    """
    made = np.dtype(dtype)
    if domain is None:
        domain = anything if is_extended(made) else REAL
    return Operand(tuple(shape), made, domain)


@attrs.frozen(eq=False)
class Sample:
    """One call of a primitive, or of a function that binds primitives; made by ``sample``.

    Attributes:
        function: the primitive, or a function of arrays.
        operands: the types and domains of its operands.
        params: the parameters of the primitive, or keyword arguments of the function.
        label: a short name, unique among the samples of a plugin.
        skip: checks that make no sense here, by name, each with the reason. Without ``reverse``
            compositions leave reverse mode out, too; without ``jvp`` and ``linearize`` they leave
            forward mode out, and reverse mode is compared with differences.
        no_derivative: the positions of operands of the primitive that no derivative is taken along,
            because there is none.
        reference: a function of NumPy arrays that computes the results independently.
        ulps: how many units in the last place results may be from those of the reference.

    >>> isinstance(sample(lambda x: x, array((3,))), Sample)
    True
    """

    function: Any
    operands: tuple[Operand, ...]
    params: Mapping[str, Any] = attrs.field(factory=dict)
    label: str = ""
    skip: Mapping[str, str] = attrs.field(factory=dict)
    no_derivative: tuple[int, ...] = ()
    reference: Callable[..., Any] | None = None
    ulps: float = 0.0

    def contains(self, operands: Sequence[Any]) -> bool:
        """Tell whether operands are inside the domains that are known."""
        return all(
            not isinstance(one.domain, Domain) or is_extended(one.dtype) or one.domain.contains(x)
            for one, x in zip(self.operands, operands, strict=True)
        )

    def with_label(self, label: str) -> Sample:
        """The same sample under another name; its values are drawn anew."""
        return attrs.evolve(self, label=label)

    def call(self, *operands: Any) -> Any:
        """Call the function, or bind the primitive."""
        if isinstance(self.function, Primitive):
            return self.function.bind(*operands, **self.params)
        return self.function(*operands, **self.params)

    def draw(self, seed: int, number: int) -> list[Any]:
        """Operands of one draw; the same ones for the same seed."""
        rng = np.random.default_rng([zlib.crc32(self.label.encode()), seed, number])
        return [operand.draw(rng) for operand in self.operands]


def sample(
    function: Any,
    *operands: Operand,
    label: str = "",
    skip: Mapping[str, str] | None = None,
    no_derivative: Sequence[int] = (),
    reference: Callable[..., Any] | None = None,
    ulps: float = 4.0,
    **params: Any,
) -> Sample:
    """A sample input.

    Args:
        function: a primitive, or a function; every primitive of the plugin that the function binds
            is checked on what reaches it.
        operands: made by ``array``.
        label: a short name; made from the arguments when it is not given.
        skip: checks to leave out by name, each with the reason.
        no_derivative: the positions of operands of the primitive that have no derivative.
        reference: a function of NumPy arrays and the parameters, such as one of SciPy, that
            computes the results of the primitive independently. It gets double precision.
        ulps: how many units in the last place results may be from those of the reference.
        params: the parameters of the primitive, or keyword arguments of the function.

    Raises:
        TypeError: when an operand is a value.

    >>> from bindax_testing import array, sample
    >>> sample(abs, array((2,)), array((), "int32"), axis=1).label
    'abs-float32[2]-int32[]-axis=1'
    """
    for i, operand in enumerate(operands):
        if not isinstance(operand, Operand):
            raise TypeError(_no_operand(i, operand))
    if not label:
        name = getattr(function, "name", None) or getattr(function, "__name__", "function")
        types = [operand.aval.str_short() for operand in operands]
        given = [f"{key}={_short(value)}" for key, value in params.items()]
        label = "-".join([str(name), *types, *given])
    made = Sample(function, operands, params, label, dict(skip or {}), tuple(no_derivative))
    return attrs.evolve(made, reference=reference, ulps=ulps)


def known(
    function: Any, operands: Sequence[Any], results: Any, *, ulps: float = 4.0, **options: Any
) -> Sample:
    """A sample of one call, with results that were computed elsewhere.

    Args:
        function: a primitive.
        operands: arrays, the values of the call; those of extended dtypes made by ``array``.
        results: what the primitive returns for them: an array, or a sequence of arrays.
        ulps: how many units in the last place results may be from these.
        options: the label, skipped checks and parameters, as of ``sample``.

    >>> import numpy as np
    >>> from bindax import lax
    >>> from bindax_testing import check_rules, known
    >>> wrong = known(lax.log_p, [np.array([1.0, 2.0])], np.array([0.0, 0.6931471806]))
    >>> report = check_rules(lax.log_p, [wrong])
    >>> [failure.check for failure in report.failures]
    ['reference']
    """
    given = [x if isinstance(x, Operand) else np.asarray(x) for x in operands]
    made = [x if isinstance(x, Operand) else array(x.shape, x.dtype, _Always(x)) for x in given]
    return sample(function, *made, reference=_Answer(given, results), ulps=ulps, **options)


@attrs.frozen(eq=False)
class _Always:
    """The domain of one array of values."""

    values: NumPyArray

    def __call__(self, rng: np.random.Generator, shape: Shape, dtype: Any) -> NumPyArray:
        return self.values


@attrs.frozen(eq=False)
class _Answer:
    """The reference that knows the results for certain operands."""

    operands: Sequence[Any]
    results: Any

    def __call__(self, *operands: Any, **params: Any) -> Any:
        pairs = zip(self.operands, operands, strict=True)
        same = [isinstance(x, Operand) or np.array_equal(x, y, equal_nan=True) for x, y in pairs]
        if not all(same):
            raise NotApplicable("the results are known for the operands of the sample alone")
        return self.results


def _no_operand(i: int, given: Any) -> str:
    """The text of the error for a value where the type of an operand is due."""
    try:
        aval = typeof(given)
    except TypeError:
        return f"operand {i} of a sample must be made by array(shape, dtype), but is {given!r:.80}."
    write = f"array({aval.shape}, {aval.dtype.name!r}"
    return (
        f"operand {i} of a sample is the value {aval.str_short()}, but a sample gives types, and "
        f"values are drawn for several calls: write {write}), or for values of your own "
        f"{write}, lambda rng, shape, dtype: ...)."
    )


def _short(value: Any) -> str:
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(value)).replace(" ", "")
    return text if len(text) <= 60 else f"{text[:40]}~{zlib.crc32(text.encode()):08x}"


def elementwise(
    function: Any,
    *domains: Any,
    dtypes: Sequence[Any] = FLOATS,
    shapes: Sequence[Shape] = ((2, 3), (), (4,), (2, 0)),
    **params: Any,
) -> Iterator[Sample]:
    """Samples of an elementwise operation: each dtype, and each shape with the first dtype.

    Args:
        function: a primitive or function whose operands have one shape and dtype.
        domains: one for each operand; a single real operand when there are none.
        dtypes: what it takes.
        shapes: scalars and empty arrays are among the default ones.
        params: its parameters.

    >>> len(list(elementwise(abs)))
    5
    """
    of_each = domains or (REAL,)
    types = [(shapes[0], dtype) for dtype in dtypes] + [(shape, dtypes[0]) for shape in shapes[1:]]
    for shape, dtype in types:
        yield sample(function, *[array(shape, dtype, domain) for domain in of_each], **params)


@attrs.frozen
class ExpectedFailure:
    """A check that is known to fail; when it passes, that is a failure.

    Attributes:
        primitive: the name of the primitive.
        check: the name of the check.
        reason: why it fails, such as the address of an issue.
        label: the label of the one sample it fails on, or empty for all of them.

    >>> ExpectedFailure("mine.cbrt", "second order", reason="infinite at zero").check
    'second order'
    """

    primitive: str
    check: str
    reason: str
    label: str = ""


@attrs.frozen
class EquivalentMutant:
    """A mistake that no check can notice, because it changes nothing that matters.

    What a plugin gives besides its samples, so that ``mutate_plugin`` counts it as explained.

    Attributes:
        primitive: the name of the primitive; ``*`` and ``?`` match any characters.
        kind: the kind of the damaged rule, with the same wildcards.
        damage: the mistake, as reports call it, with the same wildcards.
        reason: why it changes nothing.

    >>> one = EquivalentMutant("add", "jvp", "swapped *", "addition is commutative")
    >>> one.matches("add", "jvp", "swapped primals")
    True
    """

    primitive: str
    kind: str
    damage: str
    reason: str

    def matches(self, primitive: str, kind: str, damage: str) -> bool:
        """Tell whether this speaks of a mutant."""
        patterns = (self.primitive, self.kind, self.damage)
        names = (primitive, kind, damage)
        return all(fnmatchcase(name, one) for one, name in zip(patterns, names, strict=True))


# -------------------------------------------------------- containers, and rules of other kinds


@attrs.frozen(eq=False)
class ContainerSample:
    """An instance of a container type, on which its definition is checked.

    Attributes:
        value: the instance, or a pytree that holds some.
        label: what reports call it.
        expected_failures: from names of checks to the reason why they are known to fail.

    >>> isinstance(container((1.0, 2.0)), ContainerSample)
    True
    """

    value: Any
    label: str
    expected_failures: Mapping[str, str]


def container(
    value: Any, *, label: str = "", expected_failures: Mapping[str, str] | None = None
) -> ContainerSample:
    """Make a sample of a container type, for the hook ``bindax_samples``.

    Give its fields values that are not their defaults: a field that is lost gets its default back.

    Args:
        value: an instance of the type, or a pytree that holds instances.
        label: what reports call it; the name of the type when it is empty.
        expected_failures: as for ``check_pytree``.

    >>> container([1.0], label="list").label
    'list'
    """
    return ContainerSample(value, label or type(value).__qualname__, dict(expected_failures or {}))


@attrs.frozen(eq=False)
class RuleCheck:
    """A check of the rules of a kind that a third party brings.

    Attributes:
        kind: the name of the rule kind.
        name: what reports call it.
        run: takes a case; raises AssertionError where the rule is wrong.

    >>> isinstance(rule_check("jvp", lambda case: None), RuleCheck)
    True
    """

    kind: str
    name: str
    run: Callable[[Case], None]


def rule_check(kind: RuleKind | str, run: Callable[[Case], None], *, name: str = "") -> RuleCheck:
    """Make a check of the rules of a kind of your own, for the hook ``bindax_samples``.

    The suite runs it on the samples of every primitive that has a rule of the kind, names the rule
    that is wrong, and looks for a smaller case.

    Args:
        kind: the rule kind, or its name.
        run: takes a ``Case``: the ``operands`` and ``params`` of a primitive, and ``call``, which
            binds it to operands. It raises ``AssertionError`` where the rule is wrong, and
            ``NotApplicable`` where it has nothing to say.
        name: what reports call it; the name of the kind when it is empty.

    >>> def cost_is_positive(case):
    ...     assert cost.get(case.primitive)(*case.avals, **case.params) > 0
    >>> rule_check("cost", cost_is_positive).name
    'cost'
    """
    found = kind if isinstance(kind, str) else kind.name
    return RuleCheck(found, name or found, run)
