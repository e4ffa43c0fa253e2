"""Definitions: a primitive and all the rules its package has for it, in one declaration.

A package that brings rules for a primitive it does not own uses the same words in ``extend``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from bindax_core._extension_points import runtime
from bindax_core._site import Site, caller_site
from bindax_core.errors import MissingRuleError
from bindax_core.kernel._primitive import Primitive
from bindax_core.kernel._primitives_by_name import forget
from bindax_core.kernel._rule_tables import Rule, core_kinds
from bindax_core.kernel._rules import abstract_eval

RuleOrRules = Rule | Sequence[Rule]


def _flatten(name: str, rules: tuple[RuleOrRules, ...], site: Site) -> list[Rule]:
    flat: list[Rule] = []
    for entry in rules:
        for rule in entry if isinstance(entry, (list, tuple)) else (entry,):
            if not isinstance(rule, Rule):
                raise TypeError(
                    f"the definition of {name!r} ({site}) holds {rule!r}, which is not a rule: "
                    f"write kind(function), kind.absent('reason') or "
                    f"kind.elsewhere('distribution')."
                )
            # A rule made by a helper is declared where the definition is, not inside the helper.
            flat.append(rule if rule.site.file == site.file else rule.replace(site=site))
    return flat


def _canonical_names() -> list[str]:
    """The kinds that every definition must mention, whatever packages are loaded."""
    own = [kind.name for kind in core_kinds if kind.canonical]
    return [*own, *runtime.plugins.rule_kind_names(canonical=True)]


def primitive(
    name: str,
    *rules: RuleOrRules,
    multiple_results: bool = False,
    type: type[Primitive] = Primitive,
) -> Primitive:
    """Declare a primitive and the rules that its package has for it.

    Args:
        name: the name that jaxprs print and manifests offer.
        rules: rules made by rule kinds, or sequences of them made by helpers. Each canonical kind
            (impl, abstract_eval, jvp, vmap, transpose, lowering["stablehlo"]) must be mentioned,
            if only by ``kind.absent("reason")``.
        multiple_results: whether rules take and return sequences of results.
        type: the class, of a primitive that is applied in a way of its own.

    Raises:
        TypeError: when a canonical kind is not mentioned.
        DuplicateRuleError: when two rules are of one kind, or ``jvp`` and ``vjp`` are both given.

    >>> from bindax_core.extend import (
    ...     abstract_eval, impl, jvp, lowering, primitive, transpose, vmap)
    >>> identity_p = primitive(
    ...     "example.identity",
    ...     impl(lambda x: x),
    ...     abstract_eval(lambda x: x),
    ...     jvp(lambda primals, tangents: (*primals, *tangents)),
    ...     vmap(lambda size, operands, dims: (*operands, *dims)),
    ...     transpose(lambda cotangent, x: [cotangent]),
    ...     lowering["stablehlo"](lambda ctx, x: x),
    ... )
    >>> float(identity_p.bind(3.0))
    3.0
    """
    site = caller_site()
    flat = _flatten(name, rules, site)
    mentioned = {rule.kind.name for rule in flat}
    missing = [name for name in _canonical_names() if name not in mentioned]
    if missing:
        raise TypeError(
            f"the definition of {name!r} ({site}) does not mention {', '.join(missing)}. Give each "
            f"as kind(function), or say why there is none: kind.absent('reason')."
        )
    made = type(name, multiple_results=multiple_results, site=site)
    try:
        for rule in flat:
            rule.kind.install(made, rule)
    except BaseException:
        forget(made)
        raise
    return made


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
    flat = _flatten(primitive.name, rules, site)
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
