"""Linear functions that ``linearize``, ``vjp`` and ``linear_transpose`` return.

They are trees whose leaves are the arrays that the program uses, so that they may leave ``jit``, be
carried by ``scan`` and be residuals. The program itself is their metadata, equal to itself only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    Partial,
    PyTreeDef,
    UndefPrimal,
    Zero,
    api_boundary,
    eval_jaxpr,
    hoist_consts,
    instantiate_zeros,
    tree_flatten,
    tree_unflatten,
)
from bindax_transforms._flat import argument_names, own_value
from bindax_transforms.autodiff.jvp import check_tangent
from bindax_transforms.autodiff.transposition import eval_jaxpr_transposed


def linear_function(kind: type[LinearProgram], jaxpr: ClosedJaxpr, **fields: Any) -> Partial:
    """Make a function of a linear program, whose constants are its leaves."""
    hoisted, residuals = hoist_consts(jaxpr)
    program: Any = kind(jaxpr=hoisted, **fields)
    return Partial(program, tuple(residuals))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinearProgram:
    """A linear program from tangents of arguments to tangents of results.

    Attributes:
        name: the name that it prints under.
        jaxpr: from residuals and the nonzero tangents in to the nonzero tangents out.
        in_tree: the structure of ``(arguments, {})``.
        out_tree: the structure of the results.
        in_avals: the types of the arguments.
        out_avals: the types of the results.
        nonzeros_in: which arguments have tangents.
        nonzeros_out: which results have a tangent that is not zero.
    """

    name: str
    jaxpr: ClosedJaxpr
    in_tree: PyTreeDef
    out_tree: PyTreeDef
    in_avals: Sequence[Any]
    out_avals: Sequence[Any]
    nonzeros_in: Sequence[bool]
    nonzeros_out: Sequence[bool]

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Pushforward(LinearProgram):
    """The result of ``linearize``: a map of tangents."""

    @api_boundary
    def __call__(self, residuals: Sequence[Any], *tangents: Any) -> Any:
        """Return the tangents of the results, one tangent given for each argument."""
        flat, tree = tree_flatten((tangents, {}))
        if tree != self.in_tree:
            raise TypeError(
                f"the tangents must have the structure of the arguments, "
                f"{self.in_tree.children()[0]}, but they have {tree.children()[0]}."
            )
        checked = _checked(self.in_avals, flat, self._arguments, "tangent")
        used = [instantiate_zeros(t) for t, nonzero in _pairs(checked, self.nonzeros_in) if nonzero]
        outs = iter(eval_jaxpr(self.jaxpr.jaxpr, self.jaxpr.consts, *residuals, *used))
        found = [
            own_value(next(outs) if nonzero else instantiate_zeros(Zero(aval.tangent_aval())))
            for aval, nonzero in _pairs(self.out_avals, self.nonzeros_out)
        ]
        return tree_unflatten(self.out_tree, found)

    def _arguments(self) -> list[str]:
        return argument_names(tree_unflatten(self.in_tree, self.in_avals)[0], "primals")


class Pullback(LinearProgram):
    """The result of ``vjp`` and ``linear_transpose``: a map of cotangents."""

    @api_boundary
    def __call__(self, residuals: Sequence[Any], cotangent: Any) -> tuple[Any, ...]:
        """Return the cotangents of the arguments, for one of the structure of the results."""
        flat, tree = tree_flatten(cotangent)
        if tree != self.out_tree:
            raise TypeError(
                f"the cotangent must have the structure of the output, {self.out_tree}, but it "
                f"has {tree}."
            )
        checked = _checked(
            self.out_avals,
            flat,
            lambda: argument_names(tree_unflatten(self.out_tree, self.out_avals), "output"),
            "cotangent",
        )
        cts = [ct for ct, nonzero in _pairs(checked, self.nonzeros_out) if nonzero]
        linear = self.jaxpr.jaxpr.invars[len(residuals) :]
        operands = [*residuals, *(UndefPrimal(v.aval) for v in linear)]
        found = iter(eval_jaxpr_transposed(self.jaxpr.jaxpr, self.jaxpr.consts, operands, cts))
        outs = [
            own_value(instantiate_zeros(next(found) if nonzero else Zero(aval.tangent_aval())))
            for aval, nonzero in _pairs(self.in_avals, self.nonzeros_in)
        ]
        args, _ = tree_unflatten(self.in_tree, outs)
        return args  # type: ignore[no-any-return]


def _pairs(values: Sequence[Any], flags: Sequence[bool]) -> Any:
    return zip(values, flags, strict=True)


def _checked(
    avals: Sequence[Any], given: Sequence[Any], names: Callable[[], list[str]], what: str
) -> list[Any]:
    pairs = enumerate(zip(avals, given, strict=True))
    return [check_tangent(aval, x, i, names, what) for i, (aval, x) in pairs]
