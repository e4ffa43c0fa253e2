"""The rule kinds of the built-in interpreters."""

from __future__ import annotations

from typing import NamedTuple

from bindax_core.kernel import _adapters
from bindax_core.kernel._rule_tables import RuleFamily, RuleKind


class Effect(NamedTuple):
    """Something that a program does besides computing its results.

    Attributes:
        name: what messages call it.
        ordered: whether it happens in the order in which the program says it.
        repeatable: whether transformations may make it happen more often than the program says:
            in branches that are not taken, and where a computation is repeated to save memory.
    """

    name: str
    ordered: bool = False
    repeatable: bool = False


impl = RuleKind(
    "impl", adapt=_adapters.impl, canonical=True, signature="(*arrays, **params) -> array"
)
"""The evaluation on NumPy arrays, which do not warn of what floats overflow or divide; with
``on_values=True``, on the operands as they are given, and NumPy as the user has set it.
``slow=True`` says that NumPy has no fast form of it: the operation is compiled where something is
installed that compiles."""

abstract_eval = RuleKind(
    "abstract_eval",
    adapt=_adapters.list_result,
    canonical=True,
    signature="(*avals, **params) -> aval",
)
"""The type of a primitive's result from the types of its operands; raises when they are wrong."""

jvp = RuleKind(
    "jvp",
    adapt=_adapters.jvp,
    canonical=True,
    signature="(primals, tangents, **params) -> (primal_out, tangent_out)",
)
"""The derivative along a tangent; ``symbolic_zeros=True`` lets tangents be ``Zero``."""

vjp = RuleKind("vjp", signature="(*operands, **params) -> (out, vjp_function)", instead_of="jvp")
"""The derivative backwards, for a primitive without ``jvp``; ``vjp_function`` takes the cotangent
of each result and gives that of each operand, None for zero."""

vmap = RuleKind(
    "vmap",
    adapt=_adapters.vmap,
    canonical=True,
    signature="(axis_size, operands, batch_dims, **params) -> (out, out_dim)",
)
"""The same operation on operands with one more axis; an operand's dim is None if it has none."""

transpose = RuleKind(
    "transpose",
    adapt=_adapters.transpose,
    canonical=True,
    signature="(cotangent, *operands_or_UndefPrimal, **params) -> sequence of cotangent or None",
)
"""The transpose of the linear map from the ``UndefPrimal`` operands to the result."""

physical = RuleKind(
    "physical", signature="(avals, *physical_operands, **params) -> sequence of physical results"
)
"""The operation on the arrays that represent operands of extended dtypes; ``avals`` are
the types of the operands. Where it is missing, it is derived: what a structural operation does to
elements it does along each axis of the arrays that represent them, and a primitive whose parameters
are programs is applied to what represents those."""

lowering = RuleFamily(
    "lowering",
    lambda name: RuleKind(
        name,
        adapt=_adapters.list_result,
        canonical=name == "lowering.stablehlo",
        signature="(ctx, *ir_values, **params) -> ir_value",
    ),
)
"""The translation into a compiler's language, one kind for each target; ``alone=False`` says that
it works inside of the program of another primitive only."""

stablehlo = lowering["stablehlo"]

partial_eval = RuleKind(
    "partial_eval", signature="(trace, tracers, **params) -> sequence of tracer or value"
)
"""Partial evaluation at trace time, for higher-order primitives."""

stage = RuleKind("stage", signature="(trace, tracers, **params) -> sequence of tracer")
"""The record that staging makes of an application with functions among its parameters."""

partial_eval_jaxpr = RuleKind(
    "partial_eval_jaxpr",
    signature="(unknowns_in, eqn) -> (known_eqn, unknown_eqn, unknowns_out, residuals)",
)
"""Partial evaluation of an equation, for higher-order primitives."""

dce = RuleKind("dce", signature="(used_outputs, eqn) -> eqn")
"""Dead code elimination inside an equation, for higher-order primitives."""

pretty_print = RuleKind("pretty_print", signature="(eqn, printer) -> list of lines")
"""The lines of an equation in a printed jaxpr."""

effects = RuleKind("effects", signature="(**params) -> frozenset of Effect")
"""The effects of an application; none, for a primitive without the rule."""

typecheck = RuleKind("typecheck", signature="(*avals, **params) -> sequence of aval")
"""The types of an equation for the jaxpr checker, where abstract evaluation is not enough."""

CANONICAL = (impl, abstract_eval, jvp, vmap, transpose, stablehlo)
