"""Symbolic dimensions: sizes that are polynomials of named sizes.

An expression is a sum of monomials with integer coefficients. A monomial is a product of powers
of atoms, and an atom is a variable or an operation that is no polynomial: ``floordiv``, ``mod``,
``max``, ``min``. Equal polynomials have one form, so that equality is mostly a comparison of forms.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.extend import (
    Array,
    Dimension,
    Tracer,
    ValueType,
    is_value,
    trace_state,
    typeof,
)
from bindax_export._errors import InconclusiveDimensionOperation
from bindax_export._polynomials import Atom, Monomial, Terms, exact_parts, order, product_of

if TYPE_CHECKING:
    from bindax_export._scope import SymbolicScope

Size = Any
"""An ``int`` or a ``SymbolicDimension``; results without variables are ``int``."""


class SymbolicDimension(Dimension):
    """A size that is an expression of named sizes, each at least 1 unless constraints say else.

    Arithmetic gives sizes; comparisons are decided for all values that the constraints of the
    scope allow. ``==`` and ``!=`` take sizes that may differ as different.

    Raises:
        InconclusiveDimensionOperation: from a comparison that holds for some values only, and
            where a number is needed.

    >>> from bindax_export import symbolic_shape
    >>> b, n = symbolic_shape("b, 2*b + 1")
    >>> n - b, n > b, (b * 6) // 3
    (b + 1, True, 2*b)
    """

    __slots__ = ("_hash", "scope", "terms")
    __array_ufunc__ = None  # NumPy leaves operators to this class

    scope: SymbolicScope
    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: Terms, scope: SymbolicScope) -> None:
        self.terms = tuple(sorted(terms.items(), key=lambda term: order(term[0])))
        self.scope = scope
        self._hash = hash(self.terms)

    def __repr__(self) -> str:
        text = ""
        for monomial, coefficient in self.terms:
            factors = [str(a) if n == 1 else f"{a}^{n}" for a, n in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            sign = "-" if coefficient < 0 else "+"
            text += f" {sign} {'*'.join(factors)}"
        return text[3:] if text.startswith(" + ") else f"-{text[3:]}"

    def __hash__(self) -> int:
        return self._hash

    def __deepcopy__(self, memo: Any) -> SymbolicDimension:
        return self

    def variables(self) -> frozenset[str]:
        """The names of the variables."""
        found: set[str] = set()
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                if atom.kind == "variable":
                    found.add(atom.operands[0])
                else:
                    found.update(*(variables_of(x) for x in atom.operands))
        return frozenset(found)

    def evaluate(
        self,
        values: Mapping[str, Any],
        maximum: Callable[[Any, Any], Any] = max,
        minimum: Callable[[Any, Any], Any] = min,
    ) -> Any:
        """The value of the expression.

        Args:
            values: numbers for the variables, of any type with arithmetic.
            maximum: the larger of two of them.
            minimum: the smaller of two of them.
        """
        functions = {
            "floordiv": operator.floordiv,
            "mod": operator.mod,
            "max": maximum,
            "min": minimum,
        }

        def value_of(atom: Atom) -> Any:
            if atom.kind == "variable":
                return values[atom.operands[0]]
            operands = [
                x.evaluate(values, maximum, minimum) if isinstance(x, SymbolicDimension) else x
                for x in atom.operands
            ]
            return functions[atom.kind](*operands)

        total: Any = 0
        for monomial, coefficient in self.terms:
            product: Any = coefficient
            for atom, exponent in monomial:
                value = value_of(atom)
                for _ in range(exponent):
                    product = value if type(product) is int and product == 1 else product * value
            total = product if type(total) is int and total == 0 else total + product
        return total

    # ------------------------------------------------------------------------------ arithmetic

    def __add__(self, other: Any) -> Any:
        return self._combined(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._combined(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._combined(other, 1)

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Any:
        return self

    def __truediv__(self, other: Any) -> Any:
        return self._applied(operator.truediv, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._applied(lambda a, b: b / a, other)

    def __mul__(self, other: Any) -> Any:
        if not is_size(other):
            return self._applied(operator.mul, other)
        product: Terms = {}
        for left, a in self.terms:
            for right, b in terms_of(other).items():
                monomial = product_of(left, right)
                product[monomial] = product.get(monomial, 0) + a * b
        return self._made(product, other)

    __rmul__ = __mul__

    def __pow__(self, exponent: Any, modulo: None = None) -> Any:
        if not isinstance(exponent, int) or exponent < 0:
            return NotImplemented
        result: Any = 1
        for _ in range(exponent):
            result = self * result
        return result

    def __floordiv__(self, other: Any) -> Any:
        return _divided(self, other)[0] if is_size(other) else NotImplemented

    def __rfloordiv__(self, other: Any) -> Any:
        return _divided(other, self)[0] if is_size(other) else NotImplemented

    def __mod__(self, other: Any) -> Any:
        return _divided(self, other)[1] if is_size(other) else NotImplemented

    def __rmod__(self, other: Any) -> Any:
        return _divided(other, self)[1] if is_size(other) else NotImplemented

    def __divmod__(self, other: Any) -> Any:
        return _divided(self, other) if is_size(other) else NotImplemented

    def __rdivmod__(self, other: Any) -> Any:
        return _divided(other, self) if is_size(other) else NotImplemented

    # ------------------------------------------------------------------------------ comparison

    def __eq__(self, other: Any) -> bool:
        if self is other:
            return True
        if not is_size(other):
            return False
        if isinstance(other, SymbolicDimension):
            if other.scope is not self.scope:
                return False
            if other.terms == self.terms:
                return True
        difference = self - other
        if not isinstance(difference, SymbolicDimension):
            return bool(difference == 0)
        return self.scope.bounds(difference) == (0, 0)

    def __ge__(self, other: Any) -> bool:
        return self._at_least(other, 0, ">=") if is_size(other) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        return self._at_least(other, 1, ">") if is_size(other) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return not self._at_least(other, 1, "<=") if is_size(other) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return not self._at_least(other, 0, "<") if is_size(other) else NotImplemented

    def __bool__(self) -> bool:
        low, high = self.scope.bounds(self)
        if low > 0 or high < 0:
            return True
        raise self._unknown(f"whether {self} is 0")

    def __index__(self) -> int:
        raise self._unknown(f"the value of {self}")

    __int__ = __index__

    def __float__(self) -> float:
        raise self._unknown(f"the value of {self}")

    def max(self, other: Any) -> Any:
        """The larger of two sizes, as a size."""
        return max_dim(self, other)

    def min(self, other: Any) -> Any:
        """The smaller of two sizes, as a size."""
        return min_dim(self, other)

    # -------------------------------------------------------------------------------- helpers

    def _applied(self, function: Callable[[Any, Any], Any], other: Any) -> Any:
        """An operation with a number or an array: a value of the program that is traced."""
        if isinstance(other, Tracer | Array):
            return NotImplemented  # their reflected operators do
        if not is_size(other) and not is_value(other):
            return NotImplemented
        dynamic = trace_state.dynamic
        if dynamic is None:
            raise self._unknown(f"the value of {self}")
        return function(dynamic.trace.pure(self), other)

    def _combined(self, other: Any, sign: int) -> Any:
        if not is_size(other):
            function = operator.add if sign == 1 else operator.sub
            return self._applied(function, other)
        terms = dict(self.terms)
        for monomial, coefficient in terms_of(other).items():
            terms[monomial] = terms.get(monomial, 0) + sign * coefficient
        return self._made(terms, other)

    def _made(self, terms: Terms, other: Any) -> Any:
        scope = common_scope(self, other)
        return from_terms(terms, scope)

    def _at_least(self, other: Any, margin: int, sign: str) -> bool:
        common_scope(self, other)
        difference = self - other - margin
        if not isinstance(difference, SymbolicDimension):
            return bool(difference >= 0)
        low, high = self.scope.bounds(difference)
        if low >= 0:
            return True
        if high < 0:
            return False
        raise self._unknown(f"whether {self} {sign} {other}")

    def _unknown(self, question: str) -> InconclusiveDimensionOperation:
        constraints = ", ".join(self.scope.constraints)
        known = f" with the constraints {constraints}" if constraints else ""
        return InconclusiveDimensionOperation(
            f"{question} depends on the values of the dimension variables "
            f"{', '.join(sorted(self.variables()))}{known}. Add a constraint that decides it, as "
            f"in symbolic_shape(..., constraints=['b >= 8']), keep the program free of Python "
            f"decisions on sizes, or export it for a fixed size."
        )


def is_size(x: Any) -> bool:
    """Tell whether ``x`` is a size: an integer or a symbolic dimension."""
    if isinstance(x, SymbolicDimension):
        return True
    return isinstance(x, int) or (
        hasattr(x, "__index__")
        and getattr(x, "shape", None) == ()
        and type(x).__module__ == "numpy"
    )


def is_symbolic_dim(x: Any) -> bool:
    """Tell whether a size is symbolic.

    >>> from bindax_export import symbolic_shape
    >>> [is_symbolic_dim(size) for size in symbolic_shape("b, 3")]
    [True, False]
    """
    return isinstance(x, SymbolicDimension)


def symbolic_dim_bounds(dimension: Any) -> tuple[float, float]:
    """The least and the largest value that a size can have, as far as they are found.

    Args:
        dimension: a symbolic size or an integer.

    Returns:
        Both, included; ``-inf`` or ``inf`` where no bound is found, which proves nothing.

    Raises:
        TypeError: when it is no size.

    >>> from bindax_export import symbolic_shape
    >>> size = symbolic_shape("b", constraints=["b <= 8"])[0]
    >>> symbolic_dim_bounds(2 * size - 3)
    (-1, 13)
    """
    if isinstance(dimension, SymbolicDimension):
        return dimension.scope.bounds(dimension)
    try:
        value = operator.index(dimension)
    except TypeError:
        raise TypeError(
            f"symbolic_dim_bounds takes a symbolic size or an integer, but got {dimension!r:.60}."
        ) from None
    return value, value


def variables_of(size: Size) -> frozenset[str]:
    """The names of the variables of a size."""
    return size.variables() if isinstance(size, SymbolicDimension) else frozenset()


def terms_of(size: Size) -> Terms:
    """The terms of a size; a constant has the empty monomial."""
    if isinstance(size, SymbolicDimension):
        return dict(size.terms)
    number = operator.index(size)
    return {(): number} if number else {}


def from_terms(terms: Mapping[Monomial, int], scope: SymbolicScope) -> Size:
    """The size with these terms, rewritten by the equalities of the scope."""
    kept: Terms = {}
    for monomial, coefficient in terms.items():
        replaced = scope.rewrites.get(monomial)
        given = {monomial: 1} if replaced is None else terms_of(replaced)
        for m, c in given.items():
            kept[m] = kept.get(m, 0) + c * coefficient
    kept = {m: c for m, c in kept.items() if c}
    if not kept:
        return 0
    if kept.keys() == {()}:
        return kept[()]
    return SymbolicDimension(kept, scope)


def variable(name: str, scope: SymbolicScope) -> Size:
    """The size that is a variable."""
    return from_terms({((Atom("variable", (name,)), 1),): 1}, scope)


def operation(kind: str, operands: tuple[Size, ...], scope: SymbolicScope) -> Size:
    """The size that is an operation which cannot be simplified."""
    return from_terms({((Atom(kind, operands), 1),): 1}, scope)


def common_scope(*sizes: Size) -> SymbolicScope:
    """The scope of sizes, which must be of one."""
    found = [x for x in sizes if isinstance(x, SymbolicDimension)]
    for other in found[1:]:
        if other.scope is not found[0].scope:
            raise ValueError(
                f"the dimensions {found[0]} and {other} are of two scopes, so that variables of "
                f"one name can differ; make them with one scope: symbolic_shape(..., scope=scope)."
            )
    return found[0].scope


def max_dim(a: Size, b: Size) -> Size:
    """The larger of two sizes, as a size."""
    return _extremum("max", a, b)


def min_dim(a: Size, b: Size) -> Size:
    """The smaller of two sizes, as a size."""
    return _extremum("min", a, b)


def _extremum(kind: str, a: Size, b: Size) -> Size:
    if not isinstance(a, SymbolicDimension) and not isinstance(b, SymbolicDimension):
        return max(a, b) if kind == "max" else min(a, b)
    scope = common_scope(a, b)
    low, high = scope.bounds(a - b)
    if low >= 0:
        return a if kind == "max" else b
    if high <= 0:
        return b if kind == "max" else a
    return operation(kind, (a, b), scope)


def _divided(dividend: Size, divisor: Size) -> tuple[Size, Size]:
    """The quotient, rounded down, and the remainder of two sizes."""
    scope = common_scope(dividend, divisor)
    if not isinstance(divisor, SymbolicDimension) and divisor == 0:
        raise ZeroDivisionError(f"the dimension {dividend} was divided by 0.")
    whole, rest = exact_parts(terms_of(dividend), terms_of(divisor))
    quotient, remainder = from_terms(whole, scope), from_terms(rest, scope)
    if not isinstance(remainder, SymbolicDimension):
        if remainder == 0:
            return quotient, 0
        if not isinstance(divisor, SymbolicDimension):
            return quotient + remainder // divisor, remainder % divisor
    operands = (remainder, divisor)
    try:
        if remainder >= 0 and remainder < divisor:
            return quotient, remainder
    except InconclusiveDimensionOperation:
        pass
    return quotient + operation("floordiv", operands, scope), operation("mod", operands, scope)


def _number(x: Any, aval: Any) -> Any:
    return np.asarray(int(x), aval.dtype)  # which raises, and says what is unknown


value_type = ValueType(SymbolicDimension, lambda x: typeof(0), _number)
"""Sizes are weakly typed integers in the jaxprs that they belong to."""
