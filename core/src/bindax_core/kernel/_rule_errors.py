"""The structure of the results of rules, checked wherever an interpreter calls one.

The interpreters look at what costs nothing to see: how many results there are, that each is a
single value, that sizes fit. When something does not, the error is made here. The thorough check,
of all types and of linearity, is the debug mode ``config.check_rules``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bindax_core.errors import AbstractionError, RuleOutputError
from bindax_core.kernel._aval import AbstractValue, typeof
from bindax_core.kernel._functions import misfit
from bindax_core.kernel._rule_notes import described, note_failure
from bindax_core.kernel._rule_tables import Rule, rule_kinds

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


def rule_of(primitive: Primitive, kind: str) -> Rule | None:
    """The rule of a kind, whatever platform it is for."""
    table = rule_kinds.get(kind)
    return None if table is None else next(iter(table.rules_of(primitive)), None)


def describe_rule(primitive: Primitive, kind: str) -> str:
    """A rule by name, distribution, file and line.

    Args:
        primitive: the primitive that the rule is for.
        kind: the name of the rule kind, such as ``"jvp"``.

    >>> import bindax_core.extend as extend
    >>> identity_p = extend.Primitive("example.identity")
    >>> extend.describe_rule(identity_p, "vmap")
    'the vmap rule of example.identity, from ...'
    """
    return described(primitive, kind, rule_of(primitive, kind))


def rule_output_error(primitive: Primitive, kind: str, problem: str) -> RuleOutputError:
    """The error for a rule that returned something of the wrong structure.

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
    return error


def shown_result(x: Any) -> str:
    """The text for a result of a rule on one line, types where there are arrays."""
    if type(x) in (tuple, list):
        entries = ", ".join(shown_result(entry) for entry in x[:4])
        return f"a {type(x).__name__} of {len(x)}" + (f" ({entries})" if entries else "")
    aval = result_aval(x)
    if aval is None:
        return " ".join(f"{type(x).__name__} {x!r:.80}".split())
    return f"one value, {aval.str_short()}"


def result_aval(x: Any) -> Any:
    """The type of one result, a value or a symbolic zero; None when it is neither."""
    try:
        return typeof(x)
    except AbstractionError:
        aval = getattr(x, "aval", None)  # of a symbolic zero
        return aval if isinstance(aval, AbstractValue) else None


def pair_of(primitive: Primitive, kind: str, result: Any) -> tuple[Any, Any]:
    """The two parts of what a ``jvp`` or ``vmap`` rule returned."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        problem = f"returned {shown_result(result)}, where a pair is due"
        raise rule_output_error(primitive, kind, problem)
    return result[0], result[1]


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
        problem = misfit(rule.function, (*first, *args), params)
    if problem is not None:
        raise rule_output_error(primitive, kind, problem) from error
    note_failure(error, primitive, rule)
