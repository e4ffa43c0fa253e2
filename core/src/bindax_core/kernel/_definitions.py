"""Definitions of primitives: each with all the rules that its package has for it."""

from __future__ import annotations

from collections.abc import Sequence

from bindax_core._extension_points import runtime
from bindax_core._site import Site, caller_site
from bindax_core.kernel._primitive import Primitive
from bindax_core.kernel._rules import Rule, core_kinds

RuleOrRules = Rule | Sequence[Rule]


def flat_rules(name: str, rules: tuple[RuleOrRules, ...], site: Site) -> list[Rule]:
    """Return the rules of a definition in one list."""
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
    """List the kinds that every definition must mention, whatever packages are loaded."""
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
        DuplicateRuleError: when two rules are of one kind.

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
    flat = flat_rules(name, rules, site)
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
        runtime.plugins.forget(made)
        raise
    return made
