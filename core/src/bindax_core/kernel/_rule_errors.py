"""Errors about rules, which name the primitive, the rule, and the package that it is from.

Interpreters look at what costs nothing to see: how many results a rule gives, that each is a single
value, that sizes fit. When something does not, the error is made here. The thorough check, of all
types and of linearity, is the debug mode ``config.check_rules``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bindax_core._extension_points import runtime
from bindax_core._functions import code_of, signature_error
from bindax_core._site import is_internal_file
from bindax_core.errors import AbstractionError, NonFiniteError, RuleOutputError, clause
from bindax_core.kernel._aval import AbstractValue, typeof
from bindax_core.kernel._source_info import current_source, user_source_info

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive
    from bindax_core.kernel._rules import Rule, RuleKind

_MOST_NOTES = 8
_APPLIED = " is applied "


rule_kinds: dict[str, RuleKind] = {}
"""Every rule kind of this process by name, those of third parties included."""


# ------------------------------------------------------------------------------ names of rules


def described(primitive: Primitive, kind: str, rule: Rule | None) -> str:
    """Name a rule by primitive, distribution, file and line; without one, where it is missing."""
    site = primitive.site if rule is None else rule.site
    text = f"the {kind} rule of {primitive.name}, from {runtime.plugins.describe_site(site)}"
    code = None if rule is None else code_of(rule.function)
    if code is not None and (code.co_filename, code.co_firstlineno) != (site.file, site.line):
        text += f", function {code.co_name} at {code.co_filename}:{code.co_firstlineno}"
    return text


def rule_of(primitive: Primitive, kind: str) -> Rule | None:
    """Find the rule of a kind, whatever platform it is for."""
    table = rule_kinds.get(kind)
    if table is None:
        return None
    return table.rule_of(primitive) or next(iter(table.rules_of(primitive)), None)


def describe_rule(primitive: Primitive, kind: str) -> str:
    """Name a rule by primitive, distribution, file and line.

    Args:
        primitive: the primitive that the rule is for.
        kind: the name of the rule kind, such as ``"jvp"``.

    >>> import bindax_core.extend as extend
    >>> identity_p = extend.Primitive("example.identity")
    >>> extend.describe_rule(identity_p, "vmap")
    'the vmap rule of example.identity, from ...'
    """
    return described(primitive, kind, rule_of(primitive, kind))


# ----------------------------------------------------------------------------------- results


def rule_output_error(primitive: Primitive, kind: str, problem: str) -> RuleOutputError:
    """Make the error for a rule that returned something of the wrong structure.

    Args:
        primitive: the primitive that was being interpreted.
        kind: the name of the rule kind.
        problem: what is wrong, a sentence without subject and full stop, such as ``"returned 3"``.
    """
    table = rule_kinds.get(kind)
    signature = "" if table is None else f" Its signature is {table.signature}."
    error = RuleOutputError(
        f"{describe_rule(primitive, kind)}: {problem}.{signature} Set config.check_rules to True "
        f"to have all that rules return checked."
    )
    error.primitive, error.kind = primitive, kind
    note_application(error, primitive)
    return error


def shown_result(x: Any) -> str:
    """Show a result of a rule on one line, types where there are arrays."""
    if type(x) in (tuple, list):
        entries = ", ".join(shown_result(entry) for entry in x[:4])
        return f"a {type(x).__name__} of {len(x)}" + (f" ({entries})" if entries else "")
    aval = result_aval(x)
    if aval is None:
        return " ".join(f"{type(x).__name__} {x!r:.80}".split())
    return f"one value, {aval.str_short()}"


def result_aval(x: Any) -> Any:
    """Return the type of one result, a value or a symbolic zero; None when it is neither."""
    try:
        return typeof(x)
    except AbstractionError:
        aval = getattr(x, "aval", None)  # of a symbolic zero
        return aval if isinstance(aval, AbstractValue) else None


def require_types(primitive: Primitive, outs: Any) -> None:
    """Check that an ``abstract_eval`` rule returned a sequence of types."""
    problem = ""
    if not isinstance(outs, list | tuple):
        problem = f"should return a sequence of types, but returned {shown_result(outs)}"
    for i, aval in enumerate(() if problem else outs):
        if not isinstance(aval, AbstractValue):
            which = f"result {i}" if primitive.multiple_results else "the result"
            problem = problem or f"{which} should be one type, but is {shown_result(aval)}"
    if problem:
        raise rule_output_error(primitive, "abstract_eval", problem)


# ---------------------------------------------------------------------------------- failures


def explain_failure(
    primitive: Primitive, kind: str, error: Exception, args: Sequence[Any], params: dict[str, Any]
) -> None:
    """Raise an error that names the rule, when it failed because of its form.

    Its function does not take what it is given, or it writes to an operand. What a rule raises in
    its body gets a note that names the rule.
    """
    rule = rule_of(primitive, kind)
    if rule is None or rule.function is None or isinstance(error, RuleOutputError):
        return
    problem = None
    if kind == "impl" and isinstance(error, ValueError) and "read-only" in str(error):
        problem = "writes to one of its operands, which are read-only: it must work on a copy"
    elif isinstance(error, TypeError):
        first = (primitive,) if rule.options.get("takes_primitive") else ()
        problem = signature_error(rule.function, (*first, *args), params)
    if problem is not None:
        raise rule_output_error(primitive, kind, problem) from error
    _note_failure(error, primitive, rule)
    note_application(error, primitive)


def note_application(error: Exception, primitive: Primitive) -> None:
    """Add a note with the line and the names where a primitive is applied, unless there is one.

    A traceback shows the line of a call, but none of an equation.
    """
    info = current_source.info
    if (info.code is None and not info.stack) or isinstance(error, NonFiniteError):
        return
    if any(_APPLIED in note for note in getattr(error, "__notes__", ())):
        return
    try:
        source = user_source_info()
        if source is not None:
            error.add_note(f"{primitive.name}{_APPLIED}{source.where}.")
    except RecursionError:  # at the end of the stack; a call further out adds the note
        pass


def _note_failure(error: Exception, primitive: Primitive, rule: Rule) -> None:
    """Add a note that names a rule to an error that left it.

    Of rules that call each other each is noted once. A package that hides its frames writes its
    errors for users, so its rules get no note.
    """
    if isinstance(error, RuleOutputError) or is_internal_file(rule.site.file):
        return
    try:
        notes: list[str] = getattr(error, "__notes__", [])
        text = f"It was raised in {described(primitive, rule.kind.name, rule)}."
        if len(notes) < _MOST_NOTES and text not in notes:
            error.add_note(text)
    except RecursionError:  # at the end of the stack; a call further out adds the note
        pass


def with_note(primitive: Primitive, rule: Rule, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function of a rule that no kernel's interpreter calls, to note what it raises."""

    @functools.wraps(function)
    def noted(*args: Any, **params: Any) -> Any:
        try:
            return function(*args, **params)
        except Exception as error:
            _note_failure(error, primitive, rule)
            raise

    return noted


# ---------------------------------------------------------------------------------- messages


def both_kinds_message(primitive: Primitive, old: Rule, new: Rule) -> str:
    """Tell that a primitive has rules of two kinds of which it may have one."""
    used, unused = (old, new) if new.kind.instead_of else (new, old)
    here, there = map(runtime.plugins.describe_site, (used.site, unused.site))
    name = used.kind.name
    return (
        f"{primitive.name} has a {name} rule, from {here}, and a {unused.kind.name} rule, from "
        f"{there}. One of them alone would be used: leave out {unused.kind.name}, which is for "
        f"primitives without {name}, or write {name}.absent('reason')."
    )


def duplicate_kind_message(old: RuleKind, new: RuleKind) -> str:
    """Tell that a rule kind is made twice."""
    here, there = map(runtime.plugins.describe_site, (new.site, old.site))
    return (
        f"the rule kind {new.name!r} from {here} is already defined by {there}. A process has one "
        f"kind of a name: import that one, or give yours the name of your package, as in "
        f"'my_package.{new.name}'."
    )


def duplicate_rule_message(primitive: Primitive, old: Rule, new: Rule) -> str:
    """Tell that a rule is given twice."""
    platform = f" on {new.platform}" if new.platform else ""
    here, there = map(runtime.plugins.describe_site, (new.site, old.site))
    return (
        f"the {new.kind.name} rule for {primitive.name}{platform} from {here} is already defined "
        f"by {there}. A rule is given once; remove one of them, or rank the distributions with "
        f"BINDAX_PLUGINS_PREFER."
    )


def missing_rule_message(kind: RuleKind, primitive: Primitive, platform: str | None) -> str:
    """Tell that a primitive lacks a rule: the reason, the rules it has, and who may bring it."""
    placeholder = kind.rule_of(primitive, platform)
    have = sorted(other.name for other in rule_kinds.values() if primitive in other.functions)
    on = f" on {platform}" if platform else ""
    reason = f": {clause(placeholder.reason)}" if placeholder and placeholder.reason else ""
    provider = placeholder.provider if placeholder else None
    candidates = runtime.plugins.candidates(kind.name)
    return (
        f"{primitive.name} has no {kind.name} rule{on}{reason}. {primitive.name} comes from "
        f"{runtime.plugins.describe_site(primitive.site)} and has the rules "
        f"{', '.join(have) or 'none'}. "
        + (f"The rule is expected from {provider}. " if provider is not None else "")
        + (
            f"Installed distributions that offer {kind.name}: {', '.join(candidates)}. "
            if candidates
            else ""
        )
        + f"Add {kind.name}(...) with the signature {kind.signature or '(see the kind)'} to the "
        f"primitive's definition, or bring it from another package with "
        f"extend({primitive.name}_p, ...)."
    )
