"""Blame for functions: the rule, callback, primitive or line behind a failure."""

from __future__ import annotations

import re
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import attrs

from bindax_core.errors import BindaxError, RuleOutputError
from bindax_core.extend import (
    Primitive,
    abstract_eval,
    as_array,
    code_of,
    describe_function,
    describe_rule,
    is_internal,
    rule_kinds,
    subjaxprs,
)
from bindax_testing._blame import Culprit, codes_of, culprit_of, rules_by_code
from bindax_testing._checks import CHECKS, Check
from bindax_testing._compare import Mismatch, NotApplicable, require_same
from bindax_testing._functions._call import FunctionCall
from bindax_testing._functions._parts import Part, parts_of
from bindax_testing._limits import run_limited

_SECONDS = 4.0
_NAMED = re.compile(
    r"(?:(?:fwd|bwd|jvp|vmap) rule (?:\d+ )?|the callback |the custom_\w+ function )"
    r"\S+ \([^()]*:\d+\)(?: of the custom_\w+ function \S+ \([^()]*:\d+\))?"
)
"""The names of users' functions in messages."""
_BASIC = ("types", "purity", "jvp", "vmap", "transpose", "compiled")
"""Checks that tell which rule of a primitive is wrong, in this order."""
_LIBRARIES = tuple({sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sys.prefix})


def place_of(
    call: FunctionCall, check: Check, error: Exception, compiler: str | None, time_limit: float
) -> tuple[str, str]:
    """The kind of what is to blame for a failure, and what it is, with its place."""
    if isinstance(error, Mismatch) and error.rule:
        return error.kind or check.kind, error.rule
    parts = _parts(call, compiler, min(time_limit, _SECONDS))
    named = None if isinstance(error, Mismatch) else _named(error, parts)
    found = named or _failing_part(parts, check, error)
    if found is not None:
        return found
    line = "" if isinstance(error, Mismatch) else _user_line(error)
    return check.kind, f"{call.function.place}{line}{_hosts(parts)}"


def _parts(call: FunctionCall, compiler: str | None, seconds: float) -> list[Part]:
    try:
        return run_limited(lambda: parts_of(call, compiler), seconds)
    except Exception:  # what fails may be the function itself
        return []


def _hosts(parts: Iterable[Part]) -> str:
    """The functions on the host behind a call, of which nobody sees what they do."""
    hosts = [part for part in parts if part.user_functions and not part.is_custom]
    return "".join(f", or {_of_host(part)}" for part in hosts[:3])


# -------------------------------------------------------------------------- errors that were raised


def _named(error: Exception, parts: Sequence[Part]) -> tuple[str, str] | None:
    """The function that an error names, or the rule that raised it."""
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])
    found = _NAMED.search(text)
    if found is not None:
        return "rule", found[0] + _bound_at(found[0], parts)
    default = Culprit(Primitive.__new__(Primitive), "")
    if isinstance(error, RuleOutputError) and error.primitive is not None:
        culprit = Culprit(error.primitive, error.kind)
    else:
        primitives = {part.eqn.primitive for part in parts if not part.is_custom}
        culprit = culprit_of(codes_of(error), rules_by_code(primitives), default)
    if culprit is default or (_is_standard(culprit.primitive) and _user_line(error)):
        return None
    for part in reversed(parts):
        on_host = f"impl of {part.eqn.primitive.name} raised" in text
        if on_host or part.eqn.primitive is culprit.primitive:
            return _described(part, culprit.kind)
    return culprit.kind, describe_rule(*culprit)


def _bound_at(named: str, parts: Iterable[Part]) -> str:
    """The line that calls the host function which an error names."""
    for part in parts:
        if not part.is_custom and any(
            describe_function(function) in named for function in part.user_functions.values()
        ):
            return f", called at {part.site}"
    return ""


def _user_line(error: BaseException) -> str:
    """The innermost line of the user's code that an error went through."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        code = frame.f_code
        if not is_internal(code) and not code.co_filename.startswith((*_LIBRARIES, "<frozen")):
            return f", at {code.co_qualname} ({code.co_filename}:{line})"
    return ""


def is_refusal(error: BaseException) -> bool:
    """Tell whether an error was raised by a rule of bindax, and in no line of the user's."""
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and is_internal(frames[-1]) and not isinstance(error, BindaxError)


def _is_standard(primitive: Any) -> bool:
    """Tell whether a primitive is one of bindax, whose rules its own checks prove."""
    rule = abstract_eval.rule_of(primitive)
    code = None if rule is None else code_of(rule.function)
    return code is not None and is_internal(code)


# -------------------------------------------------------------------------- results that differ


def _failing_part(parts: Sequence[Part], check: Check, error: Exception) -> tuple[str, str] | None:
    """The innermost part that fails a check by itself: of what users write first."""
    deadline = time.perf_counter() + _SECONDS
    failing: list[Part] = []
    written = [part for part in parts if _is_written(part)]
    others = [part for part in parts if not (_is_written(part) or _holds_programs(part))]
    seen: set[Any] = set()
    for part in (*written, *others):
        key = (part.eqn.primitive, tuple(part.case.avals), part.site)
        left = deadline - time.perf_counter()
        if key in seen or left <= 0 or (failing and not _is_written(part)):
            continue
        seen.add(key)
        if _fails(part, check, error, left):
            failing.append(part)
    if not failing:
        return None
    return _described(max(failing, key=lambda part: part.depth), check.kind, check)


def _holds_programs(part: Part) -> bool:
    """Tell whether a part applies programs, whose own parts are looked at."""
    return any(True for _ in subjaxprs(part.eqn.params))


def _is_written(part: Part) -> bool:
    """Tell whether a part is made of what users write, and is no primitive of bindax."""
    return bool(part.user_functions) or not _is_standard(part.eqn.primitive)


def _fails(part: Part, check: Check, error: Exception | None, seconds: float) -> bool:
    """Tell whether a part fails a check by itself."""
    own = CHECKS.get(check.name, check)
    try:
        run_limited(lambda: own.run(_of_part(part), part.compiler), seconds)
    except NotApplicable:
        return False
    except (Mismatch, RuleOutputError):
        return True
    except Exception as raised:
        return type(raised) is type(error)
    return False


def _of_part(part: Part) -> Any:
    """The case of a part, without what its own rules do not serve."""
    if part.eqn.primitive.name != "custom_vjp_call":
        return part.case
    why = "a custom_vjp function has no derivative in forward mode"
    return attrs.evolve(part.case, skip=dict.fromkeys(("jvp", "linearize", "second order"), why))


def _described(part: Part, kind: str, check: Check | None = None) -> tuple[str, str]:
    """The kind of rule of a part that is to blame, and the rule with its place."""
    functions = part.user_functions
    if not functions:
        return _of_primitive(part, kind)
    if not part.is_custom:
        return "callback", _of_host(part)
    function = functions.pop("function")
    if part.eqn.primitive.name == "custom_vjp_call":
        return _of_custom_vjp(part, function, functions)
    return _of_custom_jvp(part, function, functions, check)


def _of_host(part: Part) -> str:
    """The function on the host, and the line that says what it computes."""
    hosts = ", ".join(
        f"the {role} {describe_function(f)}" for role, f in part.user_functions.items()
    )
    return f"{hosts}, called at {part.site}"


def _of_primitive(part: Part, kind: str) -> tuple[str, str]:
    """The rule that a basic check finds wrong, else the one of a kind."""
    primitive = part.eqn.primitive
    for name in _BASIC:
        own = CHECKS[name]
        try:
            if own.why_not(primitive, part.compiler) is None:
                run_limited(partial(own.run, part.case, part.compiler), 1.0)
        except NotApplicable:
            continue
        except Mismatch as error:
            kind = error.kind or own.kind
            break
        except Exception:
            kind = own.kind
            break
    known = {name for name, one in list(rule_kinds.items()) if one.rule_of(primitive)}
    kind = kind if kind in known else "impl"
    return kind, f"{describe_rule(primitive, kind)}, bound at {part.site}"


def _of_custom_vjp(
    part: Part, function: Any, rules: dict[str, Callable[..., Any]]
) -> tuple[str, str]:
    """The forward rule where it gives other values than the function, else both rules."""
    of = f"of the custom_vjp function {describe_function(function)}"
    fwd = f"the fwd rule {describe_function(rules['fwd rule'])}"
    bwd = f"the bwd rule {describe_function(rules['bwd rule'])}"
    call = part.eqn.params["call"]
    operands = [as_array(x) for x in part.case.operands[call.num_consts :]]
    try:
        outs, _, _ = call.rule((True,) * len(operands), operands)
        for got, wanted in zip(outs, part.case.call(*part.case.operands), strict=True):
            require_same("the result", got, wanted)
    except Mismatch:
        return "fwd", f"{fwd} {of}, whose result is not that of the function"
    except Exception:
        return "bwd", f"{bwd}, or {fwd}, {of}"
    return "bwd", f"{bwd}, or the residuals of {fwd}, {of}"


def _of_custom_jvp(
    part: Part, function: Any, rules: dict[str, Callable[..., Any]], check: Check | None
) -> tuple[str, str]:
    """The rule; of one rule for each argument, those along whose argument alone it fails."""
    of = f"of the custom_jvp function {describe_function(function)}"
    if "jvp rule" not in rules and check is not None:
        positions = part.case.positions
        alone = {
            role: rule
            for role, rule in rules.items()
            if _fails(_along(part, positions, int(role.rpartition(" ")[2])), check, None, 1.0)
        }
        rules = alone or rules
    named = ", ".join(f"the {role} {describe_function(rule)}" for role, rule in rules.items())
    return "jvp", f"{named} {of}"


def _along(part: Part, positions: list[int], number: int) -> Part:
    others = tuple(i for i in positions if i != number)
    return attrs.evolve(part, case=attrs.evolve(part.case, no_derivative=others))
