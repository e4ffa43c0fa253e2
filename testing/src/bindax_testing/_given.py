"""Samples of containers, and checks of rule kinds that a plugin brings, for its hook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from bindax_core.extend import RuleKind
from bindax_testing._cases import Case


@attrs.frozen(eq=False)
class ContainerSample:
    """An instance of a container type, on which its definition is checked.

    Attributes:
        value: the instance, or a pytree that holds some.
        label: what reports call it.
        expected_failures: from names of checks to the reason why they are known to fail.
    """

    value: Any
    label: str
    expected_failures: Mapping[str, str]


def container(
    value: Any, *, label: str = "", expected_failures: Mapping[str, str] | None = None
) -> ContainerSample:
    """Make a sample of a container type, for the hook ``bindax_samples``.

    Give its fields values that are not their defaults: a field that is lost gets its default back.

    Args:
        value: an instance of the type, or a pytree that holds instances.
        label: what reports call it; the name of the type when it is empty.
        expected_failures: as for ``check_pytree``.

    >>> container([1.0], label="list").label
    'list'
    """
    return ContainerSample(value, label or type(value).__qualname__, dict(expected_failures or {}))


@attrs.frozen(eq=False)
class RuleCheck:
    """A check of the rules of a kind that a third party brings.

    Attributes:
        kind: the name of the rule kind.
        name: what reports call it.
        run: takes a case; raises AssertionError where the rule is wrong.
    """

    kind: str
    name: str
    run: Callable[[Case], None]


def rule_check(kind: RuleKind | str, run: Callable[[Case], None], *, name: str = "") -> RuleCheck:
    """Make a check of the rules of a kind of your own, for the hook ``bindax_samples``.

    The kit runs it on the samples of every primitive that has a rule of the kind, names the rule
    that is wrong, and looks for a smaller case.

    Args:
        kind: the rule kind, or its name.
        run: takes a ``Case``: the ``operands`` and ``params`` of a primitive, and ``call``, which
            binds it to operands. It raises ``AssertionError`` where the rule is wrong, and
            ``NotApplicable`` where it has nothing to say.
        name: what reports call it; the name of the kind when it is empty.

    >>> def cost_is_positive(case):
    ...     assert cost.get(case.primitive)(*case.avals, **case.params) > 0
    >>> rule_check("cost", cost_is_positive).name
    'cost'
    """
    found = kind if isinstance(kind, str) else kind.name
    return RuleCheck(found, name or found, run)
