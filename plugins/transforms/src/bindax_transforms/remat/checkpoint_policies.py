"""Policies of ``checkpoint``: which intermediate values are saved, and which are recomputed.

A policy is any hashable function ``(primitive, *avals, **params) -> bool``: whether the results of
an equation with these operands' types and parameters are saved. It sees the equations of the
function and of its derivative, also inside of primitives with a ``remat`` rule: calls of ``jit``
and ``checkpoint``, branches, steps of ``scan``. Any other primitive it sees as one equation.

There are no policies that move values to another memory: what is saved stays on its device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bindax_core.extend import Primitive, api_boundary
from bindax_transforms._callables import check_function
from bindax_transforms.remat._name import name_p

Policy = Callable[..., bool]

POLICY = "one of checkpoint_policies, or a function (primitive, *avals, **params) -> bool"
"""The requirement that messages state where something else was given."""

_DOTS = frozenset({"dot_general", "conv_general_dilated"})


def everything_saveable(primitive: Primitive, *avals: Any, **params: Any) -> bool:
    """Save all that the derivative needs, as without ``checkpoint``."""
    return True


def nothing_saveable(primitive: Primitive, *avals: Any, **params: Any) -> bool:
    """Save only the arguments, and recompute all else; what ``policy=None`` means."""
    return False


def dots_saveable(primitive: Primitive, *avals: Any, **params: Any) -> bool:
    """Save the results of contractions (``dot_general``), which are costly to compute again."""
    return primitive.name in _DOTS


checkpoint_dots = dots_saveable


def dots_with_no_batch_dims_saveable(primitive: Primitive, *avals: Any, **params: Any) -> bool:
    """Save the results of contractions without batch dimensions: activations times weights."""
    if primitive.name != "dot_general":
        return False
    _, (lhs_batch, rhs_batch) = params["dimension_numbers"]
    return not lhs_batch and not rhs_batch


checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable


# Policies with arguments are values, so that equal ones share what was derived from a jaxpr.


@dataclass(frozen=True)
class _Names:
    """A policy that saves ``listed`` names, or else all others, and ``unnamed`` values or not."""

    maker: str
    names: frozenset[str]
    listed: bool
    unnamed: bool

    def __call__(self, primitive: Primitive, *avals: Any, **params: Any) -> bool:
        if primitive is not name_p:
            return self.unnamed
        return (params["name"] in self.names) == self.listed

    def __repr__(self) -> str:
        return f"{self.maker}({', '.join(repr(name) for name in sorted(self.names))})"


def _names(maker: str, names: tuple[Any, ...], listed: bool, unnamed: bool) -> _Names:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(
                f"{maker} takes names, each a string of its own, but got {name!r:.80} of type "
                f"{type(name).__name__}."
            )
    return _Names(maker, frozenset(names), listed, unnamed)


def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
    """Save the values that ``checkpoint_name`` gave one of these names, and nothing else.

    >>> from bindax_transforms import checkpoint_policies
    >>> checkpoint_policies.save_only_these_names("logits", "hidden")
    save_only_these_names('hidden', 'logits')
    """
    return _names("save_only_these_names", names_which_can_be_saved, listed=True, unnamed=False)


def save_any_names_but_these(*names_not_to_save: str) -> Policy:
    """Save the values that ``checkpoint_name`` gave other names, and nothing else."""
    return _names("save_any_names_but_these", names_not_to_save, listed=False, unnamed=False)


def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
    """Save all values, with and without names, except those of these names.

    The name belongs to what ``checkpoint_name`` returns; its operand is a value without a name.
    """
    return _names("save_anything_except_these_names", names_not_to_save, listed=False, unnamed=True)


@dataclass(frozen=True)
class _Either:
    """A policy that saves what one of two saves."""

    first: Policy
    second: Policy

    def __call__(self, primitive: Primitive, *avals: Any, **params: Any) -> bool:
        return bool(
            self.first(primitive, *avals, **params) or self.second(primitive, *avals, **params)
        )

    def __repr__(self) -> str:
        first, second = (getattr(p, "__name__", repr(p)) for p in (self.first, self.second))
        return f"save_from_both_policies({first}, {second})"


@api_boundary
def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """Save the values that at least one of two policies saves."""
    for position, policy in enumerate((policy_1, policy_2), 1):
        check_function("save_from_both_policies", f"policy_{position}", policy, POLICY)
    return _Either(policy_1, policy_2)
