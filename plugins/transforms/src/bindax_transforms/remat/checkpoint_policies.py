"""Policies of ``checkpoint``: which intermediate values are saved, and which are recomputed.

A policy is any hashable function ``(primitive, *avals, **params) -> bool``: whether the results of
an equation with these operands' types and parameters are saved. It sees the equations of the
function and of its derivative, also inside of primitives with a ``remat`` rule: calls of ``jit``
and ``checkpoint``, branches, steps of ``scan``. Any other primitive it sees as one equation.

In place of True it may return an ``Offload``: what is saved then waits in another memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bindax_core.extend import Primitive, api_boundary
from bindax_core.sharding import Space
from bindax_transforms._callables import check_function
from bindax_transforms.remat._name import name_p


@dataclass(frozen=True)
class Offload:
    """An answer of a policy: the results are saved, and wait in another memory.

    Attributes:
        source: the memory where they are used.
        target: the memory where they wait.
    """

    source: Space
    target: Space


Policy = Callable[..., bool | Offload]

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

    def __call__(self, primitive: Primitive, *avals: Any, **params: Any) -> bool | Offload:
        return self.first(primitive, *avals, **params) or self.second(primitive, *avals, **params)

    def __repr__(self) -> str:
        first, second = (getattr(p, "__name__", repr(p)) for p in (self.first, self.second))
        return f"save_from_both_policies({first}, {second})"


@api_boundary
def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """Save the values that at least one of two policies saves."""
    for position, policy in enumerate((policy_1, policy_2), 1):
        check_function("save_from_both_policies", f"policy_{position}", policy, POLICY)
    return _Either(policy_1, policy_2)


@dataclass(frozen=True)
class _Waiting:
    """A policy that saves what ``saved`` does, and what ``offloaded`` does in another memory."""

    maker: str
    saved: Policy
    offloaded: Policy
    answer: Offload

    def __call__(self, primitive: Primitive, *avals: Any, **params: Any) -> bool | Offload:
        if self.saved(primitive, *avals, **params):
            return True
        return self.answer if self.offloaded(primitive, *avals, **params) else False

    def __repr__(self) -> str:
        return f"{self.maker}({self.saved!r}, {self.offloaded!r})"


def _offload(maker: str, source: str, target: str) -> Offload:
    kinds = {space.value or "device": space for space in Space}
    for name, kind in (("offload_src", source), ("offload_dst", target)):
        if kind not in kinds:
            raise ValueError(
                f"{maker}: {name} must be the kind of a memory, {' or '.join(map(repr, kinds))}, "
                f"but it is {kind!r:.80}."
            )
    return Offload(kinds[source], kinds[target])


@api_boundary
def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str],
    offload_src: str,
    offload_dst: str,
) -> Policy:
    """Save the values of these names, some of them in another memory, and nothing else.

    Args:
        names_which_can_be_saved: names that ``checkpoint_name`` gives.
        names_which_can_be_offloaded: names of the values that wait in another memory.
        offload_src: the kind of the memory where they are used, ``"device"``.
        offload_dst: the kind of the memory where they wait, ``"pinned_host"``.

    Raises:
        ValueError: when a name is in both lists, or a memory of no known kind.

    >>> from bindax_transforms import checkpoint_policies
    >>> checkpoint_policies.save_and_offload_only_these_names(
    ...     names_which_can_be_saved=["a"], names_which_can_be_offloaded=["b"],
    ...     offload_src="device", offload_dst="pinned_host")
    save_and_offload_only_these_names(save_only_these_names('a'), save_only_these_names('b'))
    """
    maker = "save_and_offload_only_these_names"
    saved = _names(maker, tuple(names_which_can_be_saved), listed=True, unnamed=False)
    away = _names(maker, tuple(names_which_can_be_offloaded), listed=True, unnamed=False)
    if saved.names & away.names:
        raise ValueError(
            f"{maker}: {min(saved.names & away.names)!r} is a name of values to be saved, and of "
            f"values to be offloaded; leave it in one of the two."
        )
    saved, away = (replace(names, maker="save_only_these_names") for names in (saved, away))
    return _Waiting(maker, saved, away, _offload(maker, offload_src, offload_dst))


@api_boundary
def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Save the results of contractions without batch dimensions, in another memory.

    Args:
        offload_src: the kind of the memory where they are used, ``"device"``.
        offload_dst: the kind of the memory where they wait, ``"pinned_host"``.
    """
    maker = "offload_dot_with_no_batch_dims"
    answer = _offload(maker, offload_src, offload_dst)
    return _Waiting(maker, nothing_saveable, dots_with_no_batch_dims_saveable, answer)
