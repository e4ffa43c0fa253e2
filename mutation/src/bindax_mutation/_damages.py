"""The mistakes that are made in rules, each as a function around a rule.

A damage calls the true rule with something changed before or after. It gives ``None`` where it has
nothing to change, so that a rule that a damage never touches is no mutant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from bindax_core.extend import ClosedJaxpr, Primitive, RuleKind
from bindax_mutation._transformations import (
    Damage,
    Rule,
    backwards,
    converted,
    doubled,
    jvp_damages,
    negated,
    other_dtype,
    results_changed,
    swapped,
    transpose_damages,
    vmap_damages,
)

ANY_RANK = 100


def damages_for(
    kind: RuleKind, primitive: Primitive, params: Sequence[Mapping[str, Any]]
) -> Iterator[Damage]:
    """The mistakes that can be made in a rule of a primitive, which has some parameters."""
    known: dict[str, Iterable[Damage]] = {
        "impl": _impl(),
        "abstract_eval": _abstract_eval(),
        "jvp": jvp_damages(primitive),
        "vmap": vmap_damages(),
        "transpose": transpose_damages(),
        "lowering.stablehlo": (
            Damage("sign", partial(_lowered_changed, "stablehlo.negate")),
            Damage("factor", partial(_lowered_changed, "stablehlo.add")),
            Damage("swapped operands", _swapped_values),
        ),
        "partial_eval": (Damage("swapped operands", _swapped_tracers),),
        "partial_eval_jaxpr": (
            Damage("swapped residuals", _swapped_equation_residuals),
            Damage("wrong zero", _forgotten_unknown),
        ),
    }
    yield from known.get(kind.name, ())
    if kind.name in known and kind.name != "abstract_eval":
        yield from _of_params(kind.name, params)


# --------------------------------------------------------------------------- on parameters


def _of_params(kind: str, params: Sequence[Mapping[str, Any]]) -> Iterator[Damage]:
    """Those that change a parameter of some case; an axis is one whatever the rank."""
    if any(_with_wrong_branch(dict(given)) for given in params):
        yield Damage("wrong branch", partial(_with_params, kind, _with_wrong_branch))
    for name in sorted({name for given in params for name in given}):
        if any(_flipped(dict(given), name) for given in params):
            change = partial(_flipped, name=name)
            yield Damage(f"flipped {name}", partial(_with_params, kind, change))
        is_axis = "ax" in name or "dim" in name or name == "permutation"
        if is_axis and any(_moved(dict(given), name, ANY_RANK) for given in params):
            yield Damage(f"off-by-one {name}", partial(_shifted, kind, name))


def _flipped(params: dict[str, Any], name: str) -> dict[str, Any] | None:
    """Parameters with a flag turned, or None when there is no such flag."""
    return {**params, name: not params[name]} if type(params.get(name)) is bool else None


def _moved(params: dict[str, Any], name: str, ndim: int) -> dict[str, Any] | None:
    """Parameters with an axis off by one, or None when that changes nothing."""
    value = params.get(name)
    if type(value) is int:
        other: Any = (value + 1) % max(ndim, 1)
    elif type(value) is tuple and value and all(type(axis) is int for axis in value):
        other = tuple((axis + 1) % max(ndim, 1) for axis in value)
    else:
        return None
    return None if other == value else {**params, name: other}


def _with_wrong_branch(params: dict[str, Any]) -> dict[str, Any] | None:
    """Parameters with several programs in the reverse order, or None when there are none."""
    for name, value in params.items():
        if type(value) is tuple and len(value) > 1 and type(value[0]) is ClosedJaxpr:
            return {**params, name: value[::-1]}
    return None


def _with_params(
    kind: str,
    change: Callable[[dict[str, Any]], dict[str, Any] | None],
    rule: Rule,
    args: Sequence[Any],
) -> Any:
    if kind == "partial_eval_jaxpr":
        unknowns, eqn = args
        wrong = change(eqn.params)
        return None if wrong is None else rule(unknowns, eqn.replace(params=wrong))
    wrong = change(rule.keywords)
    return None if wrong is None else rule(*args, **wrong)


def _shifted(kind: str, name: str, rule: Rule, args: Sequence[Any]) -> Any:
    ndim = max([getattr(x, "ndim", 0) for x in _operands_of(kind, args)], default=0)
    return _with_params(kind, partial(_moved, name=name, ndim=ndim), rule, args)


def _operands_of(kind: str, args: Sequence[Any]) -> Sequence[Any]:
    if kind == "lowering.stablehlo":
        return args[0].avals_in  # type: ignore[no-any-return]
    if kind == "partial_eval_jaxpr":
        return [x.aval for x in args[1].invars]
    if kind in ("jvp", "vmap", "partial_eval"):
        return args[0 if kind == "jvp" else 1]  # type: ignore[no-any-return]
    return [getattr(x, "aval", x) for x in args]


# ---------------------------------------------------------------------------- on one result


def _impl() -> Iterator[Damage]:
    changes = {"sign": negated, "factor": doubled, "lost dtype": converted}
    for name, change in (changes | {"reversed result": backwards}).items():
        yield Damage(name, partial(results_changed, change))
    yield Damage("swapped operands", _swapped_operands)


def _swapped_operands(rule: Rule, args: Sequence[Any]) -> Any:
    wrong = swapped(args)
    return None if wrong is None else rule(*wrong)


def _abstract_eval() -> Iterator[Damage]:
    def dtype(aval: Any) -> Any:
        return aval.update(dtype=other_dtype(aval.dtype))

    def rank(aval: Any) -> Any:
        return aval.update(shape=(*aval.shape, 1))

    def size(aval: Any) -> Any:
        shape = aval.shape
        return aval.update(shape=(*shape[:-1], shape[-1] + 1)) if shape else aval

    def weak(aval: Any) -> Any:
        return aval.update(weak_type=not aval.weak_type)

    for name, change in (
        ("lost dtype", dtype),
        ("wrong rank", rank),
        ("off-by-one size", size),
        ("weak type", weak),
    ):
        yield Damage(name, partial(_aval_changed, change))


def _aval_changed(change: Callable[[Any], Any], rule: Rule, args: Sequence[Any]) -> Any:
    avals = list(rule(*args))
    wrong = [change(aval) if hasattr(aval, "shape") else aval for aval in avals]
    return wrong if wrong != avals else None


# ---------------------------------------------------------------------- programs and lowering


def _lowered_changed(operation: str, rule: Rule, args: Sequence[Any]) -> Any:
    ctx, *_ = args
    avals = list(ctx.avals_out)
    if not avals or any(not hasattr(aval, "dtype") for aval in avals):
        return None
    wrong = []
    for x, aval in zip(rule(*args), avals, strict=True):
        name = "stablehlo.not" if aval.dtype.kind == "b" else operation
        wrong += ctx.op(name, [x, x] if name == "stablehlo.add" else [x], [aval])
    return wrong


def _swapped_values(rule: Rule, args: Sequence[Any]) -> Any:
    ctx, *values = args
    avals = dict(zip(map(id, values), ctx.avals_in, strict=True))
    wrong = swapped(values, usable=lambda x: True, type_of=lambda x: avals[id(x)])
    return None if wrong is None else rule(ctx, *wrong)


def _swapped_tracers(rule: Rule, args: Sequence[Any]) -> Any:
    trace, tracers = args
    wrong = swapped(tracers, lambda t: t.is_known)
    return None if wrong is None else rule(trace, wrong)


def _swapped_equation_residuals(rule: Rule, args: Sequence[Any]) -> Any:
    known, unknown, unknowns_out, residuals = rule(*args)
    if known is None or unknown is None:
        return None
    wrong = swapped(unknown.invars, lambda x: any(x is r for r in residuals))
    if wrong is None:
        return None
    return known, unknown.replace(invars=wrong), unknowns_out, residuals


def _forgotten_unknown(rule: Rule, args: Sequence[Any]) -> Any:
    known, unknown, unknowns_out, residuals = rule(*args)
    if unknown is None or not any(unknowns_out):
        return None
    return known, None, unknowns_out, residuals
