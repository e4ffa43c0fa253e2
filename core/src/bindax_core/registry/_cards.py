"""The rule card: a primitive and all the rules its package has for it, in one declaration.

A package that brings rules for a primitive it does not own uses the same words in ``extend``.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from bindax_core._primitive import Primitive
from bindax_core._rule_kinds import CANONICAL
from bindax_core.registry._rules import Rule
from bindax_core.registry._site import Site, caller_site

RuleOrRules = Rule | Sequence[Rule]


def _flatten(name: str, rules: tuple[RuleOrRules, ...], site: Site) -> list[Rule]:
    flat: list[Rule] = []
    for entry in rules:
        for rule in entry if isinstance(entry, (list, tuple)) else (entry,):
            if not isinstance(rule, Rule):
                raise TypeError(
                    f"the card of {name!r} ({site}) holds {rule!r}, which is not a rule: write "
                    f"kind(function), kind.absent('reason') or kind.elsewhere('distribution')."
                )
            # A rule made by a helper is declared where the card is, not inside the helper.
            flat.append(rule if rule.site.file == site.file else attrs.evolve(rule, site=site))
    return flat


def primitive(name: str, *rules: RuleOrRules, multiple_results: bool = False) -> Primitive:
    """Declare a primitive and the rules that its package has for it.

    Args:
        name: the name that jaxprs print and manifests offer.
        rules: rules made by rule kinds, or sequences of them made by helpers. Each canonical kind
            (impl, abstract_eval, jvp, vmap, transpose, lowering["stablehlo"]) must be mentioned,
            if only by ``kind.absent("reason")``.
        multiple_results: whether rules take and return sequences of results.

    Raises:
        TypeError: when a canonical kind is not mentioned.

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
    mentioned = {rule.kind for rule in flat}
    missing = [kind.name for kind in CANONICAL if kind not in mentioned]
    if missing:
        raise TypeError(
            f"the card of {name!r} ({site}) does not mention {', '.join(missing)}. Give each as "
            f"kind(function), or say why there is none: kind.absent('reason')."
        )
    made = Primitive(name, multiple_results=multiple_results, site=site)
    for rule in flat:
        rule.kind.install(made, rule)
    return made


@attrs.frozen(eq=False)
class Extension:
    """Rules for a primitive that another package owns; takes effect when a plugin returns it."""

    primitive: Primitive
    rules: tuple[Rule, ...]
    site: Site


def extend(primitive: Primitive, *rules: RuleOrRules) -> Extension:
    """Give rules for a primitive that another package owns.

    A plugin returns extensions from its ``bindax_extensions`` hook; nothing happens before.

    Args:
        primitive: the primitive to extend.
        rules: rules made by rule kinds, as on a card.
    """
    site = caller_site()
    return Extension(primitive, tuple(_flatten(primitive.name, rules, site)), site)
