"""Backward rules of other forms than ``(residuals, cotangent) -> cotangents``."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper, wraps
from typing import Any

from bindax_core.extend import describe_function, tree_map
from bindax_transforms.custom._arguments import check_pair
from bindax_transforms.custom.accumulators import ValAccum, sum_in
from bindax_transforms.staging.backward_logs import log


def rule_with_logs(bwd: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The rule of the usual form, from one that returns what it logs, too."""
    role = f"bwd rule {describe_function(bwd)} of the {name}"
    return wraps(bwd)(lambda *args: without_logs(bwd(*args), role))


def without_logs(pair: Any, role: str) -> Any:
    """The cotangents of a pair that a rule returned, whose other part is logged."""
    check_pair(pair, role, "(cotangents, logs)")
    _log(pair[1], role)
    return pair[0]


class RuleWithAccumulators:
    """A rule that adds cotangents to accumulators, which come after its other arguments."""

    def __init__(self, bwd: Callable[..., Any], name: str) -> None:
        update_wrapper(self, bwd)
        self._bwd = bwd
        self._role = f"bwd rule {describe_function(bwd)} of the {name}"

    def __call__(self, *args: Any) -> Any:
        return self._bwd(*args)

    def returning(self, primals: Any) -> Callable[..., Any]:
        """The rule of the usual form, for arguments of these types."""

        def rule(*args: Any) -> Any:
            sums = tree_map(lambda aval: ValAccum(aval.cotangent_aval()), primals)
            _log(self._bwd(*args, *sums), self._role)
            return tree_map(sum_in, sums)

        return rule


def _log(logs: Any, role: str) -> None:
    if logs is None:
        return
    if type(logs) is not dict:
        raise TypeError(
            f"the {role} must return its logs as None or a dict, by names, but they are an object "
            f"of type {type(logs).__name__}."
        )
    log(logs)
