"""Partial evaluation under a policy, which says what is saved and what is computed again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Primitive,
    Var,
    describe_function,
    rules,
)
from bindax_transforms._flat import partition, remembered
from bindax_transforms._program_rules import ProgramRules
from bindax_transforms.autodiff.partial_eval import SplitProgram, build_split
from bindax_transforms.compilation.jit_primitive import jit_p, jit_rules
from bindax_transforms.remat.checkpoint_policies import Policy, nothing_saveable

calls: dict[Primitive, ProgramRules] = {jit_p: jit_rules}
"""The primitives that apply a program once, as it is: a policy decides about what is inside."""


def split_by_policy(
    closed: ClosedJaxpr,
    in_unknowns: Sequence[bool],
    policy: Policy | None,
    *,
    stage_known: bool = False,
) -> SplitProgram:
    """Unzip a program in two, where the unknown part computes again what the policy does not save.

    With ``stage_known`` the unknown part has all results of the program.
    """
    policy = policy or nothing_saveable
    key = ("checkpoint", tuple(in_unknowns), policy, stage_known)
    return remembered(
        closed, key, lambda: _Splitting(closed.jaxpr, in_unknowns, policy).split(stage_known)
    )


class _Splitting:
    """The two parts of a program while they are collected.

    ``saved`` are the known variables that may be residuals, in order; ``staged_eqns`` are the
    equations of the unknown part, with those that compute something again.
    """

    def __init__(self, jaxpr: Jaxpr, in_unknowns: Sequence[bool], policy: Policy) -> None:
        self.jaxpr = jaxpr
        self.in_unknowns = list(in_unknowns)
        self.policy = policy
        known, unknown = partition(in_unknowns, jaxpr.invars)
        self.unknown: set[Any] = set(unknown)
        self.saved: dict[Var, None] = dict.fromkeys(known)
        self.known_eqns: list[JaxprEqn] = []
        self.staged_eqns: list[JaxprEqn] = []

    def split(self, stage_known: bool) -> SplitProgram:
        for eqn in self.jaxpr.eqns:
            self._add(eqn)
        return build_split(
            self.jaxpr,
            self.in_unknowns,
            [x in self.unknown for x in self.jaxpr.outvars],
            self.known_eqns,
            self.staged_eqns,
            self.saved,
            self.jaxpr.outvars if stage_known else None,
        )

    def _add(self, eqn: JaxprEqn) -> None:
        unknowns_in = [x in self.unknown for x in eqn.invars]
        rule = rules.partial_eval_jaxpr.functions.get(eqn.primitive)
        if eqn.primitive in calls:
            self._add_call(eqn, unknowns_in)
        elif not any(unknowns_in):
            self._add_known(eqn)
        elif rule is None:
            self._add_unknown(eqn, eqn.outvars, [True] * len(eqn.outvars))
        else:
            known_eqn, unknown_eqn, unknowns_out, _ = rule(unknowns_in, eqn)
            if known_eqn is not None:
                self._add_known(known_eqn)
            self._add_unknown(unknown_eqn, eqn.outvars, unknowns_out)

    def _add_known(self, eqn: JaxprEqn) -> None:
        self.known_eqns.append(eqn)
        # An effect happens once, so what has one is not done again.
        if eqn.effects or is_saved(self.policy, eqn):
            self.saved.update(dict.fromkeys(eqn.outvars))
        else:
            self.staged_eqns.append(eqn)

    def _add_unknown(
        self, eqn: JaxprEqn | None, outvars: Sequence[Var], unknowns_out: Sequence[bool]
    ) -> None:
        self.unknown.update(partition(unknowns_out, outvars)[1])
        if eqn is not None:
            self.staged_eqns.append(eqn)

    def _add_call(self, eqn: JaxprEqn, unknowns_in: list[bool]) -> None:
        """A call is split under the same policy; its unknown part computes known results again."""
        parts = split_by_policy(eqn.params["jaxpr"], unknowns_in, self.policy, stage_known=True)
        if not any(unknowns_in) and None not in parts.forwarded and not eqn.effects:
            self.known_eqns.append(eqn)  # nothing inside is saved, so it stays as it is
            self.staged_eqns.append(eqn)
            return
        params_of = calls[eqn.primitive].params_of
        known, staged = params_of(eqn.params, parts.known), params_of(eqn.params, parts.unknown)
        known_eqn, staged_eqn, residuals = parts.split_equation(eqn, unknowns_in, known, staged)
        self.known_eqns.append(known_eqn)
        self.saved.update((v, None) for v in residuals if v in known_eqn.outvars)
        staged_eqn = staged_eqn.replace(outvars=eqn.outvars)
        self._add_unknown(staged_eqn, eqn.outvars, parts.out_unknowns)


def is_saved(policy: Policy, eqn: JaxprEqn) -> bool:
    """Tell whether a policy saves the results of an equation."""
    answer = policy(eqn.primitive, *[x.aval for x in eqn.invars], **eqn.params)
    if isinstance(answer, (bool, np.bool_)):
        return bool(answer)
    raise TypeError(
        f"the policy {describe_function(policy)} of checkpoint must return True or False, but for "
        f"{eqn.primitive.name} it returned {answer!r:.80}. A policy is a function (primitive, "
        f"*avals, **params) -> bool; the ones in checkpoint_policies that take names are called "
        f"first: policy=checkpoint_policies.save_only_these_names('name')."
    )
