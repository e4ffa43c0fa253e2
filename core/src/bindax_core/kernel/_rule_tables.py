"""Rules, and the tables that hold them.

A transformation is an interpreter plus a rule table. A table is a ``RuleKind``; calling it with a
function makes a ``Rule``, a value that takes effect when it is installed for a primitive. Tables
are write-once, so nothing that was compiled from a rule can go stale. This module knows neither
which kinds there are nor what interprets them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from bindax_core._extension_points import runtime
from bindax_core._site import Site, caller_site
from bindax_core.errors import DuplicateRuleError, MissingRuleError, clause
from bindax_core.kernel._rule_notes import both_kinds_message, with_note

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

Function = Callable[..., Any]
_write_lock = threading.Lock()


class Rule:
    """The interpretation of one primitive by one rule kind; made by calling the kind.

    Attributes:
        kind: the table that made the rule.
        function: the function as its author wrote it; None when absent or elsewhere.
        options: what the kind's adapter needs to know of the function; with ``takes_primitive``
            the function is given the primitive first.
        platform: the platform a lowering is for, or None for all.
        reason: why there is no function; becomes the text of the error.
        provider: the distribution that is expected to bring the rule, when it is elsewhere.
        derived: how the rule was derived, when it was.
        site: where it was declared.
    """

    def __init__(
        self,
        kind: RuleKind,
        function: Function | None,
        site: Site,
        options: dict[str, Any],
        *,
        platform: str | None = None,
        reason: str | None = None,
        provider: str | None = None,
        derived: str | None = None,
    ) -> None:
        self.kind = kind
        self.function = function
        self.site = site
        self.options = options
        self.platform = platform
        self.reason = reason
        self.provider = provider
        self.derived = derived

    def replace(self, **changes: Any) -> Rule:
        """A copy with other fields."""
        return Rule(**{**vars(self), **changes})

    @property
    def is_present(self) -> bool:
        """True if the rule has a function, so that it can be applied."""
        return self.function is not None

    @property
    def is_given(self) -> bool:
        """True if somebody wrote its function for this primitive."""
        return self.function is not None and self.derived is None


def _unadapted(primitive: Primitive, function: Function, options: dict[str, Any]) -> Function:
    return function


class RuleKind:
    """A table of rules, one for each primitive, and the word that makes rules for it.

    Args:
        name: the word, unique among the kinds in a process.
        adapt: makes the form that interpreters call (it deals in sequences of results) from the
            function of a definition, given the primitive, the function and the rule's options.
        canonical: whether every definition must mention the kind.
        signature: what a rule looks like, for messages.
        instead_of: the name of a kind whose rules these replace: a primitive has one of both.

    Raises:
        DuplicateRuleError: when another place of this process has made a kind of the name.

    >>> from bindax_core.extend import RuleKind
    >>> cost = RuleKind("cost", signature="(*avals, **params) -> int")
    >>> cost(lambda x: x.size).is_present
    True
    """

    def __init__(
        self,
        name: str,
        *,
        adapt: Callable[[Primitive, Function, dict[str, Any]], Function] = _unadapted,
        canonical: bool = False,
        signature: str = "",
        instead_of: str = "",
    ) -> None:
        self.name = name
        self.instead_of = instead_of
        if instead_of:
            _alternatives.update({name: instead_of, instead_of: name})
        self.canonical = canonical
        self.signature = signature
        self.functions: dict[Primitive, Function] = {}
        self._adapt = adapt
        self._rules: dict[tuple[Primitive, str | None], Rule] = {}
        self._platform_functions: dict[tuple[Primitive, str], Function] = {}
        self._derivations: list[Callable[[Primitive], Rule | None]] = []
        self.site = caller_site()
        self._code = sys._getframe(1).f_code
        runtime.plugins.find_rule_kind(name, self.site.module)
        with _write_lock:
            old = rule_kinds.get(name)
            if old is not None and not self._is_declared_again(old):
                raise DuplicateRuleError(duplicate_kind_message(old, self))
            rule_kinds[name] = self

    def _is_declared_again(self, old: RuleKind) -> bool:
        """Tell whether the old kind is of the same declaration, which a reload has run again."""
        is_same = self.site.line == old.site.line or self._code is not old._code
        return is_same and self.site.module == old.site.module

    def __repr__(self) -> str:
        return f"RuleKind({self.name!r})"

    def __call__(self, function: Function, *, platform: str | None = None, **options: Any) -> Rule:
        """Make a rule of this kind from a function with the kind's signature.

        With ``takes_primitive=True`` the function is given the primitive before all else, so that
        one function serves many definitions.
        """
        if not callable(function):
            raise TypeError(
                f"{self.name}(...) takes the rule as a function {self.signature}, "
                f"but got {function!r}."
            )
        return Rule(self, function, caller_site(), options, platform=platform)

    def absent(self, reason: str) -> Rule:
        """State that the primitive has no such rule, and why."""
        return Rule(self, None, caller_site(), {}, reason=reason)

    def elsewhere(self, distribution: str) -> Rule:
        """State that another distribution brings the rule."""
        return Rule(self, None, caller_site(), {}, provider=distribution)

    def derive(self, derivation: Callable[[Primitive], Rule | None]) -> None:
        """Add a way to derive a rule that no package gives; the first that succeeds is used."""
        self._derivations.append(derivation)

    def rule_of(self, primitive: Primitive, platform: str | None = None) -> Rule | None:
        """Return the table's entry for a primitive; nothing is loaded or derived."""
        return self._rules.get((primitive, platform), self._rules.get((primitive, None)))

    def rules_of(self, primitive: Primitive) -> list[Rule]:
        """All that the table holds for a primitive, one for each platform."""
        return [rule for (owner, _), rule in self._rules.items() if owner is primitive]

    def find(self, primitive: Primitive, platform: str | None = None) -> Function | None:
        """The function to interpret a primitive with, or None.

        On a first miss, plugins that offer rules of this kind are loaded, then derivations tried.
        """
        function = self._get(primitive, platform)
        if function is None and runtime.plugins.load_for_rule(self.name, primitive):
            function = self._get(primitive, platform)
        if function is None:
            for derivation in self._derivations:
                rule = derivation(primitive)
                if rule is not None:
                    self.install(primitive, rule, replace_placeholder=True)
                    return self._get(primitive, platform)
        return function

    def get(self, primitive: Primitive, platform: str | None = None) -> Function:
        """Like ``find``, but a missing rule is an error.

        Raises:
            MissingRuleError: naming the primitive, its package, the rules it has, and what to do.
        """
        function = self.functions.get(primitive) if platform is None else None
        if function is None:
            function = self.find(primitive, platform)
        if function is None:
            message = missing_rule_message(self, primitive, platform)
            raise MissingRuleError(message) from runtime.plugins.failure_behind_rule(self.name)
        return function

    def _get(self, primitive: Primitive, platform: str | None) -> Function | None:
        if platform is not None:
            function = self._platform_functions.get((primitive, platform))
            if function is not None:
                return function
        return self.functions.get(primitive)

    def all_rules(self) -> list[tuple[Primitive, Rule]]:
        """All that the table holds."""
        return [(owner, rule) for (owner, _), rule in list(self._rules.items())]

    def install(
        self, primitive: Primitive, rule: Rule, *, replace_placeholder: bool = False
    ) -> None:
        """Put a rule into the table.

        Raises:
            DuplicateRuleError: when the table has a rule for the primitive and platform.
        """
        adapted = self._adapted(primitive, rule)
        key = (primitive, rule.platform)
        with _write_lock:
            old = self._rules.get(key)
            if old is not None and (old.is_present or not rule.is_present):
                raise DuplicateRuleError(duplicate_rule_message(primitive, old, rule))
            self._refuse_both(primitive, rule)
            self._rules[key] = rule
            if adapted is not None:
                self._put(primitive, rule.platform, adapted)

    def _refuse_both(self, primitive: Primitive, rule: Rule) -> None:
        """Raise where a primitive gets a rule and has one of the kind that stands in its place."""
        other = rule_kinds.get(_alternatives.get(self.name, ""))
        found = other.rule_of(primitive) if other is not None and rule.is_given else None
        if found is not None and found.is_given:
            raise DuplicateRuleError(both_kinds_message(primitive, found, rule))

    def _adapted(self, primitive: Primitive, rule: Rule) -> Function | None:
        function = rule.function
        if function is None:
            return None
        if rule.options.get("takes_primitive"):
            function = partial(function, primitive)
        if not self.canonical:  # the interpreters of the others note what a rule raises
            function = with_note(primitive, rule, function)
        return self._adapt(primitive, function, rule.options)

    def _put(self, primitive: Primitive, platform: str | None, adapted: Function) -> None:
        wrap = runtime.wrap_rule
        function = adapted if wrap is None else wrap(self, primitive, adapted)
        if platform is None:
            self.functions[primitive] = function
        else:
            self._platform_functions[primitive, platform] = function

    def wrap_again(self) -> None:
        """Make the functions that interpreters call again, after the wrapper changed."""
        with _write_lock:
            for (primitive, platform), rule in list(self._rules.items()):
                primitive.forget_types()
                adapted = self._adapted(primitive, rule)
                if adapted is not None:
                    self._put(primitive, platform, adapted)

    def remove(self, primitive: Primitive, rule: Rule, restore: Rule | None = None) -> None:
        """Take a rule out of the table again (to roll back a plugin that failed to load)."""
        key = (primitive, rule.platform)
        with _write_lock:
            if self._rules.get(key) is not rule:
                return
            if restore is None:
                del self._rules[key]
            else:
                self._rules[key] = restore
            if rule.platform is None:
                self.functions.pop(primitive, None)
            else:
                self._platform_functions.pop((primitive, rule.platform), None)

    @contextmanager
    def scoped(self, primitive: Primitive, rule: Rule) -> Iterator[None]:
        """Put a rule in place of what the table holds, inside a ``with`` block; for tests."""
        key = (primitive, rule.platform)
        old = self._rules.get(key)
        if old is not None:
            self.remove(primitive, old)
        self.install(primitive, rule)
        primitive.forget_types()
        try:
            yield
        finally:
            self.remove(primitive, rule)
            if old is not None:
                self.install(primitive, old)
            primitive.forget_types()

    @contextmanager
    def wrapped(
        self, primitive: Primitive, wrapper: Callable[[Function], Function]
    ) -> Iterator[None]:
        """Have interpreters call a primitive's rule through a wrapper, inside a ``with`` block.

        The wrapper is given the rule in the form that deals in sequences of results.
        """
        with _write_lock:
            old = self.functions[primitive]
            self.functions[primitive] = wrapper(old)
        primitive.forget_types()
        try:
            yield
        finally:
            with _write_lock:
                self.functions[primitive] = old
            primitive.forget_types()


class RuleFamily:
    """Rule kinds that differ in a target, such as ``lowering["stablehlo"]``."""

    def __init__(self, name: str, make: Callable[[str], RuleKind]) -> None:
        self.name = name
        self._make = make
        self._lock = threading.Lock()
        self._kinds: dict[str, RuleKind] = {}

    def __getitem__(self, target: str) -> RuleKind:
        with self._lock:  # two threads that ask first get one kind
            if target not in self._kinds:
                self._kinds[target] = self._make(f"{self.name}.{target}")
            return self._kinds[target]

    def __iter__(self) -> Iterator[RuleKind]:
        return iter(list(self._kinds.values()))


class UnreadKind(RuleKind):
    """A rule kind that no installed package declares: rules of it are accepted, and not kept."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.signature = ""

    def install(
        self, primitive: Primitive, rule: Rule, *, replace_placeholder: bool = False
    ) -> None:
        """Drop a rule, which no interpreter reads."""


core_kinds: list[RuleKind] = []
"""The rule kinds of the kernel and of arrays, which every package can name."""

_alternatives: dict[str, str] = {}
"""Kinds of which a primitive has one or the other, by name."""

rule_kinds: dict[str, RuleKind] = {}
"""Every rule kind of this process by name, the ones of third parties included."""


def wrap_rules(wrapper: Callable[[RuleKind, Primitive, Function], Function] | None) -> None:
    """Have all rules of this process, present and future, called through a wrapper; or none."""
    runtime.wrap_rule = wrapper
    for kind in list(rule_kinds.values()):
        kind.wrap_again()


def duplicate_kind_message(old: RuleKind, new: RuleKind) -> str:
    here, there = map(runtime.plugins.describe_site, (new.site, old.site))
    return (
        f"the rule kind {new.name!r} from {here} is already defined by {there}. A process has one "
        f"kind of a name: import that one, or give yours the name of your package, as in "
        f"'my_package.{new.name}'."
    )


def duplicate_rule_message(primitive: Primitive, old: Rule, new: Rule) -> str:
    platform = f" on {new.platform}" if new.platform else ""
    here, there = map(runtime.plugins.describe_site, (new.site, old.site))
    return (
        f"the {new.kind.name} rule for {primitive.name}{platform} from {here} is already defined "
        f"by {there}. A rule is given once; remove one of them, or rank the distributions with "
        f"BINDAX_PLUGINS_PREFER."
    )


def missing_rule_message(kind: RuleKind, primitive: Primitive, platform: str | None) -> str:
    placeholder = kind.rule_of(primitive, platform)
    have = sorted(other.name for other in rule_kinds.values() if primitive in other.functions)
    on = f" on {platform}" if platform else ""
    lines = [
        f"{primitive.name} has no {kind.name} rule{on}"
        + (f": {clause(placeholder.reason)}." if placeholder and placeholder.reason else ".")
    ]
    lines.append(f"{primitive.name} comes from {runtime.plugins.describe_site(primitive.site)}")
    lines[-1] += f" and has the rules {', '.join(have) or 'none'}."
    if placeholder is not None and placeholder.provider is not None:
        lines.append(f"The rule is expected from {placeholder.provider}.")
    candidates = runtime.plugins.candidates(kind.name, primitive.name)
    if candidates:
        lines.append(f"Installed distributions that offer {kind.name}: {', '.join(candidates)}.")
    lines.append(
        f"Add {kind.name}(...) with the signature {kind.signature or '(see the kind)'} to the "
        f"primitive's definition, or bring it from another package with "
        f"extend({primitive.name}_p, ...)."
    )
    return " ".join(lines)
