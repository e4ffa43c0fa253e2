"""Extensions: rules that a package gives for a primitive that another one owns."""

from __future__ import annotations

import functools
import inspect
from typing import Any, NamedTuple

from bindax_core._extension_points import runtime
from bindax_core._site import Site, caller_site
from bindax_core.errors import MissingRuleError
from bindax_core.kernel._definitions import RuleOrRules, flat_rules
from bindax_core.kernel._primitive import Primitive
from bindax_core.kernel._rules import Rule, abstract_eval


class Extension(NamedTuple):
    """Rules for a primitive that another package owns; takes effect when a plugin returns it."""

    primitive: Primitive
    rules: tuple[Rule, ...]
    site: Site


def extend(primitive: Primitive, *rules: RuleOrRules) -> Extension:
    """Give rules for a primitive that another package owns.

    A plugin returns extensions from its ``bindax_extensions`` hook; nothing happens before.

    A parameter that has a default in the primitive's ``abstract_eval`` rule may be newer than the
    rules given here. One that does not take it is called without it while it has its default.

    Args:
        primitive: the primitive to extend.
        rules: rules made by rule kinds, as in a definition.
    """
    site = caller_site()
    flat = flat_rules(primitive.name, rules, site)
    return Extension(primitive, tuple(_without_newer(primitive, rule) for rule in flat), site)


def _named_parameters(function: Any) -> dict[str, Any] | None:
    """The parameters that can be passed by name, with defaults; None when all names can."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not tell
        return None
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {one.name: one.default for one in parameters if one.kind in by_name}


def _without_newer(primitive: Primitive, rule: Rule) -> Rule:
    """The rule, kept from parameters that its author could not know while they say nothing new."""
    types, function = abstract_eval.rule_of(primitive), rule.function
    declared = _named_parameters(types.function) if types and types.function else None
    taken = None if function is None else _named_parameters(function)
    if function is None or not declared or taken is None:
        return rule
    newer = {
        name: default
        for name, default in declared.items()
        if default is not inspect.Parameter.empty and name not in taken
    }
    if not newer:
        return rule

    @functools.wraps(function)
    def without_newer(*args: Any, **params: Any) -> Any:
        for name, default in newer.items():
            value = params.pop(name, default)
            if value is not default and not (type(value) is type(default) and value == default):
                raise MissingRuleError(
                    f"the {rule.kind.name} rule for {primitive.name} from "
                    f"{runtime.plugins.describe_site(rule.site)} does not take the parameter "
                    f"{name!r}, which is {value!r} here: without it the rule holds for "
                    f"{name}={default!r} alone. Upgrade the package that the rule is from, or use "
                    f"the default."
                )
        return function(*args, **params)

    return rule.replace(function=without_newer)
