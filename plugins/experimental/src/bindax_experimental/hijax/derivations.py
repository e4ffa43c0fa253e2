"""Rules of a class that follow from others of it; a class body takes them over.

``jvp = jvp_from_lin``; ``lin, linearized = linearize_from_jvp``; ``vjp_fwd, vjp_bwd_retval =
vjp_from_jvp``, or ``= vjp_from_lin``. Reverse mode without ``vjp_fwd`` transposes ``jvp`` or
``linearized`` anyway; with them the forward rule keeps the arguments, or what ``lin`` keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from bindax_core.extend import (
    instantiate_zeros,
    is_differentiable,
    tree_leaves,
    tree_unflatten,
    zeros_like_aval,
)
from bindax_core.tree_util import register_static
from bindax_transforms import linear_transpose, partition, with_zeros
from bindax_transforms.zeros import Zero


class RulePair(NamedTuple):
    """Two rules, which a class body takes over as a pair."""

    first: Callable[..., Any]
    second: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise: the pair was assigned to the name of one rule."""
        raise TypeError(
            "linearize_from_jvp, vjp_from_jvp and vjp_from_lin are pairs of rules; write "
            "lin, linearized = linearize_from_jvp, or vjp_fwd, vjp_bwd_retval = vjp_from_jvp."
        )


@register_static
@dataclass(frozen=True)
class _Flags:
    """Flags of the leaves of the arguments that are differentiated: residuals without leaves."""

    perturbed: tuple[bool, ...]


def jvp_from_lin(self: Any, primals: Any, tangents: Any) -> tuple[Any, Any]:
    """The ``jvp`` rule of a class that defines ``lin`` and ``linearized``."""
    if type(self).lin is _lin_from_jvp:
        raise TypeError(
            f"{type(self).__name__} sets jvp = jvp_from_lin and lin, linearized = "
            f"linearize_from_jvp, so that each is defined by the other; write one of them."
        )
    flags = [type(t) is not Zero for t in self.in_tree.flatten_up_to(tuple(tangents))]
    out, residuals, *rest = self.lin(tree_unflatten(self.in_tree, flags), *primals)
    return out, self.linearized(residuals, *rest[1:], *tangents)


def _lin_from_jvp(self: Any, nzs_in: Any, *primals: Any) -> tuple[Any, Any]:
    return self(*primals), primals


def _linearized_from_jvp(self: Any, primals: Any, *tangents: Any) -> Any:
    return self.jvp(primals, tangents)[1]


def _vjp_fwd_from_jvp(self: Any, nzs_in: Any, *primals: Any) -> tuple[Any, Any]:
    return self(*primals), (primals, _Flags(tuple(tree_leaves(nzs_in))))


def _vjp_bwd_from_jvp(self: Any, res: Any, out_ct: Any) -> Any:
    primals, flags = res
    return _transposed(self, flags, lambda *t: self.jvp(primals, t)[1], out_ct)


def _vjp_fwd_from_lin(self: Any, nzs_in: Any, *primals: Any) -> tuple[Any, ...]:
    out, residuals, *rest = self.lin(nzs_in, *primals)
    kept = (residuals, *rest[1:])
    return out, (kept, _Flags(tuple(tree_leaves(nzs_in)))), *rest[:1]


def _vjp_bwd_from_lin(self: Any, res: Any, out_ct: Any) -> Any:
    kept, flags = res
    return _transposed(self, flags, lambda *t: self.linearized(*kept, *t), out_ct)


def _transposed(self: Any, flags: _Flags, tangent_map: Callable[..., Any], out_ct: Any) -> Any:
    """The cotangents of the arguments, by the transpose of the map of their tangents."""
    perturbed = flags.perturbed
    counted = [is_differentiable(aval.dtype) for aval in self.out_avals_flat]

    def nonzero_map(*given: Any) -> list[Any]:
        tangents = with_zeros(perturbed, given, self.in_avals_flat)
        found = self.out_tree.flatten_up_to(tangent_map(*tree_unflatten(self.in_tree, tangents)))
        return [instantiate_zeros(t) for t in partition(counted, found)[1]]

    pairs = zip(self.in_avals_flat, perturbed, strict=True)
    examples = [zeros_like_aval(aval.tangent_aval()) for aval, flag in pairs if flag]
    cts = partition(counted, self.out_tree.flatten_up_to(out_ct))[1]
    found = linear_transpose(nonzero_map, *examples)([instantiate_zeros(ct) for ct in cts])
    return tree_unflatten(self.in_tree, with_zeros(perturbed, found, self.in_avals_flat))


linearize_from_jvp: RulePair = RulePair(_lin_from_jvp, _linearized_from_jvp)
"""The rules ``lin`` and ``linearized`` of a class that defines ``jvp``."""

vjp_from_jvp: RulePair = RulePair(_vjp_fwd_from_jvp, _vjp_bwd_from_jvp)
"""The rules ``vjp_fwd`` and ``vjp_bwd_retval`` of a class that defines ``jvp``."""

vjp_from_lin: RulePair = RulePair(_vjp_fwd_from_lin, _vjp_bwd_from_lin)
"""The rules ``vjp_fwd`` and ``vjp_bwd_retval`` of a class that defines ``lin``."""
