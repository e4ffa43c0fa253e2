"""The debug mode ``config.check_rules``: what rules return is checked when they are first used.

While it is on, interpreters find wrapped functions in the rule tables; while it is off, they find
the rules themselves, so that it costs nothing. A rule is checked once for operands of the same
types and the same parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from bindax_core.errors import RuleOutputError
from bindax_core.extend import (
    AbstractValue,
    Primitive,
    RuleKind,
    Tracer,
    code_of,
    config,
    describe_rule,
    float0,
    is_value,
    typeof,
)
from bindax_testing._blame import codes_of
from bindax_testing._checks._base import value
from bindax_testing._compare import Mismatch, require_same, wide
from bindax_transforms.zeros import Zero, instantiate_zeros, is_undef_primal

Function = Callable[..., Any]
Rule: TypeAlias = "partial[Any]"
Checker = Callable[[Primitive, Rule, Sequence[Any]], Any]


def checked_rule(kind: RuleKind, primitive: Primitive, function: Function) -> Function:
    """A rule that checks its results the first time it sees operands of some types."""
    checker = _check_lowering if kind.name.startswith("lowering.") else _CHECKERS.get(kind.name)
    if checker is None:
        return function
    seen: set[Any] = set()

    def rule(*args: Any, **params: Any) -> Any:
        if not config.check_rules:  # but in another thread
            return function(*args, **params)
        try:
            key = (_signature(args), tuple(params.items()))
            known = key in seen
        except TypeError:  # a parameter without hash: checked each time
            known, key = False, None
        if known:
            return function(*args, **params)
        try:
            out = checker(primitive, partial(function, **params), args)
        except Mismatch as problem:
            raise RuleOutputError(f"{describe_rule(primitive, kind.name)}: {problem}") from None
        except (TypeError, ValueError) as error:
            if not _is_about_the_form(error, kind, primitive, function):
                raise
            raise RuleOutputError(
                f"{describe_rule(primitive, kind.name)}: {error}; it should have the signature "
                f"{kind.signature}."
            ) from error
        if key is not None:
            seen.add(key)
        return out

    return rule


def _is_about_the_form(
    error: BaseException, kind: RuleKind, primitive: Primitive, function: Function
) -> bool:
    """Tell whether calling a rule or unpacking its results failed, and nothing inside the rule."""
    code, declared = codes_of(error)[0], kind.rule_of(primitive)
    # What interpreters call may be an adapter, which calls the function of the definition.
    is_adapter = declared is None or declared.function is not function
    return code.co_filename == __file__ or (is_adapter and code is code_of(function))


def _signature(x: Any) -> Any:
    """Return the key of a call: types of values, and whether they are traced."""
    if isinstance(x, list | tuple):
        return tuple(_signature(item) for item in x)
    if type(x) is Zero or is_undef_primal(x):
        return type(x), x.aval
    if isinstance(x, AbstractValue | int | None):
        return x
    if is_value(x):
        return isinstance(x, Tracer), typeof(x)
    return type(x)


def _listed(what: str, results: Any, count: int) -> Sequence[Any]:
    if not isinstance(results, list | tuple) or len(results) != count:
        raise Mismatch(f"{what} should be a sequence of {count}, but is {results!r:.80}.")
    return results


def _pair(results: Any) -> Any:
    if not isinstance(results, list | tuple) or len(results) != 2:
        raise Mismatch(f"should return a pair, but returned {results!r:.80}.")
    return results


def _check_impl(primitive: Primitive, rule: Rule, args: Sequence[Any]) -> Any:
    before = [np.array(x, copy=True) if isinstance(x, np.ndarray) else None for x in args]
    out = rule(*args)
    for i, (x, old) in enumerate(zip(args, before, strict=True)):
        if old is not None and x.tobytes() != old.tobytes():
            raise Mismatch(f"changed its operand {i} in place; work on a copy.")
    if primitive.multiple_results:
        avals = primitive.out_avals(tuple(typeof(x) for x in args), rule.keywords)
        _listed("its results", out, len(avals))
    return out


def _check_abstract_eval(primitive: Primitive, rule: Rule, args: Sequence[Any]) -> Any:
    out = rule(*args)
    for i, aval in enumerate(out):
        if not isinstance(aval, AbstractValue):
            raise Mismatch(f"result {i} should be an abstract value, but is {aval!r:.80}.")
    return out


def _require(what: str, found: Any, wanted: Any) -> None:
    if found.strip_weak_type() != wanted.strip_weak_type():
        raise Mismatch(f"{what} should be {wanted.str_short()}, but is {found.str_short()}.")


def _type(what: str, x: Any) -> Any:
    if type(x) is Zero:
        return x.aval
    if not is_value(x):
        raise Mismatch(f"{what} should be an array, but is {x!r:.80}.")
    return typeof(x)


def _check_jvp(primitive: Primitive, rule: Rule, args: Sequence[Any]) -> Any:
    primals, _ = args
    results = _pair(rule(*args))
    avals = primitive.out_avals(tuple(typeof(x) for x in primals), rule.keywords)
    outs = _listed("the primal results", results[0], len(avals))
    tangents = _listed("the tangents", results[1], len(avals))
    for i, (aval, out, tangent) in enumerate(zip(avals, outs, tangents, strict=True)):
        _require(f"the primal result {i}", _type(f"the primal result {i}", out), aval)
        what = f"the tangent of result {i}"
        _require(what, _type(what, tangent), aval.tangent_aval())
    return results


def _check_vmap(primitive: Primitive, rule: Rule, args: Sequence[Any]) -> Any:
    size, operands, dims = args
    results = _pair(rule(*args))
    elements = [_without(typeof(x), d) for x, d in zip(operands, dims, strict=True)]
    avals = primitive.out_avals(tuple(elements), rule.keywords)
    outs = _listed("the results", results[0], len(avals))
    out_dims = _listed("the batch dimensions", results[1], len(avals))
    for i, (aval, out, d) in enumerate(zip(avals, outs, out_dims, strict=True)):
        found = _type(f"result {i}", out)
        if d is not None and not (isinstance(d, int) and 0 <= d < len(found.shape)):
            raise Mismatch(
                f"the batch dimension {d!r} of result {i} is no axis of {found.str_short()}."
            )
        if d is not None and found.shape[d] != size:
            raise Mismatch(
                f"axis {d} of result {i}, {found.str_short()}, should have the batch size {size}."
            )
        _require(f"result {i} without its batch dimension {d}", _without(found, d), aval)
    return results


def _without(aval: Any, d: int | None) -> Any:
    return aval if d is None else aval.update(shape=aval.shape[:d] + aval.shape[d + 1 :])


def _check_transpose(primitive: Primitive, rule: Rule, args: Sequence[Any]) -> Any:
    cotangents, *operands = args
    results = _listed("the cotangents", rule(*args), len(operands))
    for i, (x, ct) in enumerate(zip(operands, results, strict=True)):
        if ct is None:
            continue
        if not is_undef_primal(x):
            if type(ct) is not Zero:
                raise Mismatch(f"gives a cotangent for operand {i}, which is not transposed.")
            continue
        what = f"the cotangent of operand {i}"
        _require(what, _type(what, ct), x.aval.tangent_aval())
    # While something is being staged, results are traced though the operands are not.
    if not any(isinstance(x, Tracer) for x in (*cotangents, *operands, *results)):
        _check_linear(rule, cotangents, operands, results)
    return results


def _check_linear(
    rule: Rule, cotangents: Sequence[Any], operands: Sequence[Any], results: Sequence[Any]
) -> None:
    """-2 times the cotangents must give -2 times the results."""
    scaled = [
        ct if type(ct) is Zero or typeof(ct).dtype == float0 else value(-2.0 * wide(ct), typeof(ct))
        for ct in cotangents
    ]
    again = _listed("the cotangents", rule(scaled, *operands), len(operands))
    for i, (got, once) in enumerate(zip(again, results, strict=True)):
        if once is None and got is None:
            continue
        if once is None or got is None:
            raise Mismatch(f"the cotangent of operand {i} is None for some cotangents only.")
        got, once = instantiate_zeros(got), instantiate_zeros(once)
        if typeof(once).dtype == float0 or not np.all(np.isfinite(wide(once))):
            continue
        what = f"is not linear: for -2 times the cotangent, the cotangent of operand {i}"
        require_same(what, got, value(-2.0 * wide(once), typeof(once)), types=False, scale=4.0)


def _check_lowering(primitive: Primitive, rule: Rule, args: Sequence[Any]) -> Any:
    out = rule(*args)
    avals = getattr(args[0], "avals_out", None) if args else None
    if avals is not None:
        _listed("the values", out, len(avals))
    return out


_CHECKERS: dict[str, Checker] = {
    "impl": _check_impl,
    "abstract_eval": _check_abstract_eval,
    "jvp": _check_jvp,
    "vmap": _check_vmap,
    "transpose": _check_transpose,
}
