"""Rule kinds, the tables of rules that interpreters read; and those of the kernel.

A transformation is an interpreter plus a rule kind. Calling the kind with a function makes a
``Rule``, which takes effect when it is installed for a primitive. Tables are write-once, so nothing
that was compiled from a rule can go stale.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from bindax_core._extension_points import runtime
from bindax_core._site import Site, Statement, caller_site, is_declared_again, running_statement
from bindax_core.errors import DuplicateRuleError, MissingRuleError
from bindax_core.kernel import _rule_errors as errors
from bindax_core.kernel._rule_errors import rule_kinds as rule_kinds
from bindax_core.kernel._source_info import rule_files

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

Function = Callable[..., Any]
# Python 3.14 can leave a lock that was just taken when it is interrupted. With one of this kind the
# thread goes on.
_write_lock = threading.RLock()

core_kinds: list[RuleKind] = []
"""The rule kinds of the kernel and of arrays, which every package can name."""

_alternatives: dict[str, str] = {}
"""Kinds of which a primitive has one or the other, by name."""


class Rule:
    """The interpretation of one primitive by one rule kind; made by calling the kind.

    Attributes:
        kind: the kind that made the rule.
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
        """Return a copy with other fields."""
        return Rule(**{**vars(self), **changes})

    @property
    def is_present(self) -> bool:
        """True if the rule has a function, so that it can be applied."""
        return self.function is not None

    @property
    def is_given(self) -> bool:
        """True if somebody wrote its function for this primitive."""
        return self.function is not None and self.derived is None


class RuleKind:
    """A kind of rules, and the table that holds one for each primitive.

    Args:
        name: unique among the kinds of a process.
        adapt: makes the form that interpreters call, which deals in sequences of results, from the
            primitive, the function of a definition and the rule's options; by default the function.
        canonical: whether every definition of a primitive must mention the kind.
        signature: the signature of a rule, for messages.
        instead_of: the name of a kind whose rules these replace: a primitive has one of both.

    Raises:
        DuplicateRuleError: when another module has made a kind of the name.

    >>> from bindax_core.extend import RuleKind
    >>> cycles = RuleKind("cycles", signature="(*avals, **params) -> int")
    >>> cycles(lambda x: x.size).is_present
    True
    """

    def __init__(
        self,
        name: str,
        *,
        adapt: Callable[[Primitive, Function, dict[str, Any]], Function] | None = None,
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
        self._functions_on: dict[tuple[Primitive, str | None], Function] = {}
        self._derivations: list[Callable[[Primitive], Rule | None]] = []
        self.site: Site = caller_site()
        self.statement: Statement = running_statement()
        runtime.plugins.find_rule_kind(name, self.site.module)
        with _write_lock:
            old = rule_kinds.get(name)
            if old is not None and not is_declared_again(old, self):
                raise DuplicateRuleError(errors.duplicate_kind_message(old, self))
            rule_kinds[name] = self

    def __repr__(self) -> str:
        return f"RuleKind({self.name!r})"

    def __call__(self, function: Function, *, platform: str | None = None, **options: Any) -> Rule:
        """Make a rule of this kind from a function with the kind's signature.

        With ``takes_primitive=True`` the function is given the primitive before all else, so that
        one function serves many primitives.
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
        """Return all that the table holds for a primitive, one for each platform."""
        return [rule for (owner, _), rule in self._rules.items() if owner is primitive]

    def all_rules(self) -> list[tuple[Primitive, Rule]]:
        """Return all that the table holds."""
        return [(owner, rule) for (owner, _), rule in list(self._rules.items())]

    def _get(self, primitive: Primitive, platform: str | None) -> Function | None:
        return self._functions_on.get((primitive, platform)) or self.functions.get(primitive)

    def find(self, primitive: Primitive, platform: str | None = None) -> Function | None:
        """Return the function to interpret a primitive with, or None.

        On a first miss, plugins that offer rules of this kind are loaded, then derivations tried.
        """
        function = self._get(primitive, platform)
        if function is None and runtime.plugins.load_for_rule(self.name, primitive):
            function = self._get(primitive, platform)
        for derivation in self._derivations if function is None else ():
            rule = derivation(primitive)
            if rule is not None:
                self.install(primitive, rule)
                return self._get(primitive, platform)
        return function

    def get(self, primitive: Primitive, platform: str | None = None) -> Function:
        """Return the same as ``find``, but a missing rule is an error.

        Raises:
            MissingRuleError: naming the primitive, its package, the rules it has, and what to do.
        """
        function = self.functions.get(primitive) if platform is None else None
        if function is None:
            function = self.find(primitive, platform)
        if function is None:
            missing = MissingRuleError(errors.missing_rule_message(self, primitive, platform))
            errors.note_application(missing, primitive)
            raise missing from runtime.plugins.failure_behind_rule(self.name)
        return function

    def install(self, primitive: Primitive, rule: Rule) -> None:
        """Put a rule into the table.

        Raises:
            DuplicateRuleError: when the table has a rule for the primitive and platform.
        """
        adapted = self._adapted(primitive, rule)
        rule_files.add(rule.site.file)
        with _write_lock:
            old = self._rules.get((primitive, rule.platform))
            if old is not None and (old.is_present or not rule.is_present):
                raise DuplicateRuleError(errors.duplicate_rule_message(primitive, old, rule))
            self._refuse_both(primitive, rule)
            self._put(primitive, rule, adapted)

    def _refuse_both(self, primitive: Primitive, rule: Rule) -> None:
        """Raise where a primitive gets a rule and has one of the kind that stands in its place."""
        other = rule_kinds.get(_alternatives.get(self.name, ""))
        found = other.rule_of(primitive) if other is not None and rule.is_given else None
        if found is not None and found.is_given:
            raise DuplicateRuleError(errors.both_kinds_message(primitive, found, rule))

    def _adapted(self, primitive: Primitive, rule: Rule) -> Function | None:
        function = rule.function
        if function is None:
            return None
        if rule.options.get("takes_primitive"):
            function = partial(function, primitive)
        if not self.canonical:  # the interpreters of the others note what a rule raises
            function = errors.with_note(primitive, rule, function)
        return self._adapt(primitive, function, rule.options) if self._adapt else function

    def _put(self, primitive: Primitive, rule: Rule, adapted: Function | None) -> None:
        """Write a rule, and its adapted function, to the table; the lock is held."""
        self._rules[primitive, rule.platform] = rule
        if adapted is None:
            return
        wrap = runtime.wrap_rule
        function = adapted if wrap is None else wrap(self, primitive, adapted)
        if rule.platform is None:
            self.functions[primitive] = function
        else:
            self._functions_on[primitive, rule.platform] = function

    def wrap_again(self) -> None:
        """Make the functions that interpreters call again, after the wrapper changed."""
        with _write_lock:
            for primitive, rule in self.all_rules():
                primitive.forget_types()
                self._put(primitive, rule, self._adapted(primitive, rule))

    def remove(self, primitive: Primitive, rule: Rule) -> None:
        """Take a rule out of the table again, to roll back a plugin that failed to load."""
        key = (primitive, rule.platform)
        with _write_lock:
            if self._rules.get(key) is not rule:
                return
            del self._rules[key]
            self._functions_on.pop(key, None)
            if rule.platform is None:
                self.functions.pop(primitive, None)

    @contextmanager
    def scoped(self, primitive: Primitive, rule: Rule) -> Iterator[None]:
        """Put a rule in place of what the table holds, inside a ``with`` block; for tests."""
        old = self._rules.get((primitive, rule.platform))
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
        old = self.functions[primitive]
        self.functions[primitive] = wrapper(old)
        primitive.forget_types()
        try:
            yield
        finally:
            self.functions[primitive] = old
            primitive.forget_types()


def wrap_rules(wrapper: Callable[[RuleKind, Primitive, Function], Function] | None) -> None:
    """Have all rules of this process, present and future, called through a wrapper; or none."""
    runtime.wrap_rule = wrapper
    for kind in list(rule_kinds.values()):
        kind.wrap_again()


def list_result(primitive: Primitive, function: Function, options: dict[str, Any]) -> Function:
    """Adapt a rule to return a sequence of results."""
    if primitive.multiple_results:
        return function
    return lambda *args, **params: [function(*args, **params)]


abstract_eval: RuleKind = RuleKind(
    "abstract_eval", adapt=list_result, canonical=True, signature="(*avals, **params) -> aval"
)
"""The type of a primitive's result from the types of its operands; raises when they are wrong."""

pretty_print: RuleKind = RuleKind("pretty_print", signature="(eqn, printer) -> list of lines")
"""The lines of an equation in a printed jaxpr."""

typecheck: RuleKind = RuleKind("typecheck", signature="(*avals, **params) -> sequence of aval")
"""The types of an equation for the jaxpr checker, where abstract evaluation is not enough."""

core_kinds += (abstract_eval, pretty_print, typecheck)
