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
    api_boundary,
    eval_jaxpr,
    hoist_consts,
    instantiate_zeros,
    tree_flatten,
    tree_unflatten,
)
from bindax_transforms._flat import argument_names, own_value, partition, with_zeros
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

    ``jaxpr`` goes from residuals and the nonzero tangents in to the nonzero tangents out;
    ``in_tree`` is the structure of ``(arguments, {})``.
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
        used = [instantiate_zeros(t) for t in partition(self.nonzeros_in, checked)[1]]
        outs = eval_jaxpr(self.jaxpr.jaxpr, self.jaxpr.consts, *residuals, *used)
        found = _filled(self.nonzeros_out, outs, self.out_avals)
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
        cts = partition(self.nonzeros_out, checked)[1]
        linear = self.jaxpr.jaxpr.invars[len(residuals) :]
        operands = [*residuals, *(UndefPrimal(v.aval) for v in linear)]
        found = eval_jaxpr_transposed(self.jaxpr.jaxpr, self.jaxpr.consts, operands, cts)
        outs = _filled(self.nonzeros_in, found, self.in_avals)
        args, _ = tree_unflatten(self.in_tree, outs)
        return args  # type: ignore[no-any-return]


def _filled(flags: Sequence[bool], found: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
    return [own_value(instantiate_zeros(x)) for x in with_zeros(flags, found, avals)]


def _checked(
    avals: Sequence[Any], given: Sequence[Any], names: Callable[[], list[str]], what: str
) -> list[Any]:
    pairs = enumerate(zip(avals, given, strict=True))
    return [check_tangent(aval, x, i, names, what) for i, (aval, x) in pairs]
