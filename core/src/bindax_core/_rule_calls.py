"""Calls of rules by interpreters that packages bring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.kernel._primitive import Primitive
from bindax_core.kernel._rule_errors import explain_failure, rule_output_error, shown_result


def call_rule(
    primitive: Primitive,
    kind: str,
    function: Callable[..., Any],
    args: Sequence[Any],
    params: dict[str, Any],
    is_result: Callable[[Any], bool],
) -> list[Any]:
    """The results of a rule as a list, checked; for the adapter of a rule kind.

    Args:
        primitive: the primitive that is interpreted.
        kind: the name of the rule kind.
        function: the rule, which returns one value, or a sequence if the primitive has several.
        args: its arguments.
        params: the parameters of the primitive.
        is_result: tells whether something can be a result.

    Raises:
        RuleOutputError: naming the rule, when it takes or returns something else.

    >>> import bindax_core.extend as extend
    >>> negative_p = extend.Primitive("example.negative")
    >>> call_rule(negative_p, "cost", lambda x: -x, [3], {}, lambda x: isinstance(x, int))
    [-3]
    """
    try:
        out = function(*args, **params)
    except Exception as error:
        explain_failure(primitive, kind, error, args, params)
        raise
    outs = out if primitive.multiple_results else [out]
    if not isinstance(outs, (list, tuple)):
        problem = f"returned {shown_result(out)}, where a list with an entry for each result is due"
        raise rule_output_error(primitive, kind, problem)
    for i, x in enumerate(outs):
        if not is_result(x):
            which = f"result {i}" if primitive.multiple_results else "the result"
            raise rule_output_error(primitive, kind, f"{which} cannot be {shown_result(x)}")
    return list(outs)
