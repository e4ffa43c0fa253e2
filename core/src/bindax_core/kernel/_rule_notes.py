"""Notes on what rules raise: the primitive, the rule, and the package that it is from."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bindax_core._extension_points import runtime
from bindax_core.errors import RuleOutputError
from bindax_core.kernel._functions import code_of
from bindax_core.kernel._source_info import is_internal_file

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive
    from bindax_core.kernel._rule_tables import Rule

_MOST_NOTES = 8


def described(primitive: Primitive, kind: str, rule: Rule | None) -> str:
    """A rule by primitive, distribution, file and line; without one, where it is missing."""
    site = primitive.site if rule is None else rule.site
    text = f"the {kind} rule of {primitive.name}, from {runtime.plugins.describe_site(site)}"
    code = None if rule is None else code_of(rule.function)
    if code is not None and (code.co_filename, code.co_firstlineno) != (site.file, site.line):
        text += f", function {code.co_name} at {code.co_filename}:{code.co_firstlineno}"
    return text


def note_failure(error: Exception, primitive: Primitive, rule: Rule) -> None:
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
    """The function of a rule that no kernel's interpreter calls; what it raises gets the note."""

    @functools.wraps(function)
    def noted(*args: Any, **params: Any) -> Any:
        try:
            return function(*args, **params)
        except Exception as error:
            note_failure(error, primitive, rule)
            raise

    return noted


def both_kinds_message(primitive: Primitive, old: Rule, new: Rule) -> str:
    """The text of the error for rules of two kinds of which a primitive has one."""
    used, unused = (old, new) if new.kind.instead_of else (new, old)
    here, there = map(runtime.plugins.describe_site, (used.site, unused.site))
    name = used.kind.name
    return (
        f"{primitive.name} has a {name} rule, from {here}, and a {unused.kind.name} rule, from "
        f"{there}. One of them alone would be used: leave out {unused.kind.name}, which is for "
        f"primitives without {name}, or write {name}.absent('reason')."
    )
