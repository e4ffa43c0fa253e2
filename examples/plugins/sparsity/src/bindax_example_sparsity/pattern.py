"""Patterns of Jacobians: an interpreter of programs that are linear, and its table of rules.

The program is that of the derivative: of ``jvp``, which is linear in the tangents. So functions
with derivative rules of their own need nothing here, and every primitive whose ``jvp`` rule is made
of known operations has a pattern. A matrix for each array says which elements of it depend on
which tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from bindax_core.extend import (
    ClosedJaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    RuleKind,
    ShapedArray,
    Tracer,
    api_boundary,
    bind_flat,
    eval_context,
    is_differentiable,
    is_extended,
    typeof,
)
from bindax_transforms import jvp, make_jaxpr, vjp

Matrix = Any  # of SciPy, in the format CSR, of booleans: elements by inputs; None is all zeros


class Dependence(NamedTuple):
    """An array inside of a program.

    Attributes:
        aval: its type.
        matrix: a row for each element, in the order of memory, and a column for each input;
            None where it depends on no input.
        value: the array, where it depends on nothing at all; else None.
    """

    aval: Any
    matrix: Matrix = None
    value: Any = None


class Unknown(Exception):
    """A rule needs a value that the input decides; the pattern of all elements is taken."""


def _adapt(primitive: Primitive, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    def rule(context: Context, operands: Sequence[Dependence], params: dict[str, Any]) -> Any:
        found = function(context, *operands, **params)
        return list(found) if isinstance(found, list) else [found]

    return rule


sparsity = RuleKind("sparsity", adapt=_adapt, signature="(context, *dependences, **params) -> CSR")
"""The pattern of a primitive's result, from those of its operands; a list for several results.

A rule may raise ``Unknown``. It is called only where an operand depends on an input.
"""


class Context:
    """The results that rules are to describe, and the programs among their parameters.

    Attributes:
        inputs: the number of inputs.
        notes: the operations without a rule that were met, with their lines.
        primitive: the primitive that is looked at.
        out_avals: the types of its results.
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.notes: dict[str, None] = {}
        self.primitive: Any = None
        self.out_avals: list[Any] = []

    def evaluate(self, closed: ClosedJaxpr, operands: Sequence[Dependence]) -> list[Dependence]:
        """The results of a program."""
        jaxpr = closed.jaxpr
        known: dict[Any, Dependence] = {}
        for var, value in zip(jaxpr.constvars, closed.consts, strict=True):
            known[var] = Dependence(var.aval, None, _number(value))
        known.update(zip(jaxpr.invars, operands, strict=True))

        def read(atom: Any) -> Dependence:
            if isinstance(atom, Literal):
                return Dependence(atom.aval, None, np.asarray(atom.val, atom.aval.dtype))
            return known[atom]

        for eqn in jaxpr.eqns:
            outs = self._apply(eqn, [read(atom) for atom in eqn.invars])
            known.update(zip(eqn.outvars, outs, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def _apply(self, eqn: JaxprEqn, operands: list[Dependence]) -> list[Dependence]:
        avals = [var.aval for var in eqn.outvars]
        if all(one.matrix is None for one in operands):
            if any(one.value is None for one in operands) or eqn.effects:
                return [Dependence(aval) for aval in avals]
            outs = bind_flat(eqn.primitive, [one.value for one in operands], eqn.params)
            return [Dependence(typeof(x), None, _number(x)) for x in outs]
        self.primitive, self.out_avals = eqn.primitive, avals
        rule = sparsity.find(eqn.primitive)
        try:
            if rule is None:
                raise Unknown
            matrices = rule(self, operands, eqn.params)
        except Unknown:
            self.notes[f"{eqn.primitive.name} at {eqn.source_info or 'an unknown line'}"] = None
            matrices = [self.everything(operands, aval.size) for aval in avals]
        made = []
        for aval, found in zip(avals, matrices, strict=True):
            if isinstance(found, Dependence):
                made.append(found)
                continue
            keeps = found is not None and is_differentiable(aval.dtype)
            made.append(Dependence(aval, found if keeps else None))
        return made

    def everything(self, operands: Sequence[Dependence], size: int) -> Matrix:
        """The pattern in which each of some elements depends on all that the operands do."""
        columns = np.unique(np.concatenate([_columns(one.matrix) for one in operands]))
        row = sp.csr_array(
            (np.ones(len(columns), bool), columns, [0, len(columns)]), (1, self.inputs)
        )
        return row[np.zeros(size, int)]


def _number(x: Any) -> Any:
    """A value as a NumPy array; None for what is traced, and for what is no number."""
    return None if isinstance(x, Tracer) or is_extended(typeof(x).dtype) else np.asarray(x)


def _columns(matrix: Matrix) -> Any:
    return np.zeros(0, int) if matrix is None else matrix.indices


class Pattern:
    """The places of a matrix where its elements may be other than zero.

    Attributes:
        shape: the numbers of rows and columns.
        rows: the row of each place.
        cols: the column of each place; places are ordered by rows, then by columns.
        conservative: operations without a rule, each with its line, whose results were taken to
            depend on all of their operands. Without any, the pattern is as small as rules can say.
    """

    def __init__(self, matrix: Matrix, conservative: Sequence[str] = ()) -> None:
        found = sp.csr_array(matrix, dtype=bool)
        found.sum_duplicates()
        found.sort_indices()
        coo = found.tocoo()
        self.shape: tuple[int, int] = found.shape
        self.rows, self.cols = (np.asarray(x, np.int32) for x in (coo.row, coo.col))
        self.conservative = tuple(conservative)

    def __repr__(self) -> str:
        rows, cols = self.shape
        text = f"Pattern({rows}x{cols}, {len(self.rows)} places"
        if self.conservative:
            text += f", conservative because of {', '.join(self.conservative)}"
        return f"{text})"

    def scipy(self) -> Any:
        """The pattern as a SciPy array of booleans."""
        return sp.csr_array((np.ones(len(self.rows), bool), (self.rows, self.cols)), self.shape)

    def dense(self) -> np.ndarray[Any, Any]:
        """The pattern as a NumPy array of booleans."""
        return np.asarray(self.scipy().todense())


@api_boundary
def sparsity_pattern(
    fun: Callable[..., Any], *, argnums: int = 0, mode: str = "forward"
) -> Callable[..., Pattern]:
    """Find which elements of a function's result depend on which elements of an argument.

    The pattern holds for all values of the arguments: it is found from the program of the
    derivative alone. Elements are counted in the order of memory.

    Args:
        fun: a function of arrays that returns one array.
        argnums: the argument that is differentiated.
        mode: ``"forward"`` looks at the program of ``jvp``, ``"reverse"`` at that of ``vjp``, which
            functions with a ``custom_vjp`` rule need.

    Returns:
        A function of the arguments, or of their types, that returns the ``Pattern``.

    Raises:
        ValueError: when ``mode`` is neither.
        TypeError: at a call, when the argument has no derivative, or the result is not one array.

    >>> import numpy as np
    >>> sparsity_pattern(lambda x: x[1:] * x[:-1])(np.ones(4))
    Pattern(3x4, 6 places)
    """
    if mode not in ("forward", "reverse"):
        raise ValueError(f"mode must be 'forward' or 'reverse', but it is {mode!r}.")

    def pattern(*args: Any) -> Pattern:
        avals = [_aval_of(x) for x in args]
        wanted = avals[argnums]
        if not is_differentiable(wanted.dtype):
            raise TypeError(
                f"argument {argnums} must be an array of floating-point numbers, but it is "
                f"{wanted.str_short()}: convert it first."
            )
        out = _one_result(make_jaxpr(fun)(*avals).out_avals)
        context = Context(wanted.size if mode == "forward" else out.size)

        def forward(*given: Any) -> Any:
            *rest, tangent = given
            return jvp(_of_one(fun, rest, argnums), (rest[argnums],), (tangent,))[1]

        def reverse(*given: Any) -> Any:
            *rest, cotangent = given
            return vjp(_of_one(fun, rest, argnums), rest[argnums])[1](cotangent)[0]

        varied = wanted if mode == "forward" else out
        derivative = forward if mode == "forward" else reverse
        closed = make_jaxpr(derivative)(*avals, varied)
        seeds = Dependence(varied, sp.eye_array(varied.size, dtype=bool, format="csr"))
        with eval_context():  # whatever transformation the pattern is wanted inside of
            (found,) = context.evaluate(closed, [*map(Dependence, avals), seeds])
        other = out.size if mode == "forward" else wanted.size
        matrix = found.matrix
        if matrix is None:
            matrix = sp.csr_array((other, context.inputs), dtype=bool)
        return Pattern(matrix if mode == "forward" else matrix.T, tuple(context.notes))

    return pattern


def _aval_of(x: Any) -> Any:
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return ShapedArray(tuple(x.shape), np.dtype(x.dtype))
    return typeof(x)


def _of_one(fun: Callable[..., Any], args: Sequence[Any], argnums: int) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return fun(*args[:argnums], x, *args[argnums + 1 :])

    return function


def _one_result(avals: Sequence[Any]) -> Any:
    if len(avals) != 1:
        raise TypeError(
            f"the function must return one array, but it returns {len(avals)}: concatenate them."
        )
    return avals[0]
