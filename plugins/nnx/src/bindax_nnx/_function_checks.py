"""Checks of modules: what is trained gets gradients, starts apart, and draws new numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Jaxpr,
    Var,
    describe_function,
    is_internal,
    is_value,
    subjaxprs,
)
from bindax_core.tree_util import tree_leaves
from bindax_nnx.graph import iter_variables
from bindax_nnx.layers.dropout import Dropout
from bindax_nnx.object import Object
from bindax_nnx.recursion import iter_graph
from bindax_nnx.rngs import RngKey
from bindax_nnx.split_merge import merge, split
from bindax_nnx.variables import Param, Variable
from bindax_testing import (
    FunctionAdapter,
    FunctionCall,
    FunctionCheck,
    Mismatch,
    NotApplicable,
    function_adapter,
    function_check,
)
from bindax_transforms import make_jaxpr, vjp

Path = tuple[Any, ...]


def checks_of_modules() -> Iterator[FunctionAdapter | FunctionCheck]:
    """The checks of modules, and how modules are made functions."""
    yield function_adapter(_pure)
    yield function_check("gradients of parameters", _gradients)
    yield function_check("parameters apart", _parameters_apart, in_double=False)
    yield function_check("new random numbers", _new_numbers, in_double=False)


def _pure(
    function: Any, args: tuple[Any, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """The function of the state of all modules that are given, and of the other arguments."""
    places = [i for i, x in enumerate((function, *args)) if isinstance(x, Object)]
    if not places:
        return None
    graphdef, state = split([(function, *args)[i] for i in places])

    def pure(state: Any, *others: Any) -> Any:
        nodes, rest = iter(merge(graphdef, state, copy=True)), iter(others)
        called, *given = [
            next(nodes) if i in places else function if i == 0 else next(rest)
            for i in range(len(args) + 1)
        ]
        out = called(*given)
        held = [x for x in (called, *given) if isinstance(x, Object)]
        return out, split(held)[1]

    return pure, (state, *[x for i, x in enumerate(args, 1) if i not in places])


def _modules(call: FunctionCall) -> list[Any]:
    given = (call.function.given, *call.function.given_args)
    found = [x for x in given if isinstance(x, Object)]
    if not found:
        raise NotApplicable("it holds no module")
    return found


def _owner(root: Any, path: Path) -> Any:
    """The innermost object on a path whose class is the user's, else the outermost one."""
    nodes = dict(iter_graph(root))
    on_path = [nodes.get(path[:n]) for n in range(len(path))]
    objects = [x for x in on_path if isinstance(x, Object)]
    users = [x for x in objects if not _is_ours(type(x))]
    return users[-1] if users else objects[0]


def _is_ours(kind: type) -> bool:
    code = getattr(getattr(kind, "__init__", None), "__code__", None)
    return code is None or is_internal(code)


def _place(kind: type, method: str) -> str:
    described = describe_function(getattr(kind, method))
    return described.replace(method, f"{kind.__qualname__}.{method}", 1)


def _attribute(path: Path) -> str:
    return "".join(f"[{x}]" if isinstance(x, int) else f".{x}" for x in path).lstrip(".")


def _outputs(call: FunctionCall, operands: Sequence[Any]) -> tuple[list[Any], Any]:
    """The leaves of what the function returns, and the state after the call."""
    out, state = call.function.function(*call.function.arguments(operands))
    return tree_leaves(out), state


# --------------------------------------------------------------------------------- gradients


def _gradients(call: FunctionCall) -> None:
    """Every parameter gets a gradient from some result."""
    modules = _modules(call)
    names = [(root, path) for root in modules for path, x in iter_variables(root) if _trains(x)]
    if not names:
        raise NotApplicable("it has no parameters")
    reached: set[tuple[int, Path]] = set()
    for row in call.draws:
        reached |= _reached(call, row)
    for root, path in names:
        number = next(i for i, x in enumerate(modules) if x is root)
        if (number, path) not in reached and not _depends(call, (number, *path)):
            owner = _owner(root, path)
            raise Mismatch(
                f"the parameter {_attribute(path)} of {type(root).__qualname__} gets no gradient: "
                f"no result depends on it, or stop_gradient keeps it away. Use it, remove it, or "
                f"make it another kind of Variable.",
                rule=_place(type(owner), "__call__"),
            )


def _trains(x: Variable[Any]) -> bool:
    return isinstance(x, Param) and all(
        np.asarray(y).dtype.kind in "fcV" for y in tree_leaves(x.value)
    )


def _reached(call: FunctionCall, row: Sequence[Any]) -> set[tuple[int, Path]]:
    """The parameters with a gradient that is not zero, by the number of the module and path."""
    state, *others = call.function.arguments(row)
    flat = state.flat_state()
    paths = [path for path, x in flat.items() if _trains(x)]

    def results(values: list[Any]) -> list[Any]:
        changed = {**flat, **{p: flat[p].replace(v) for p, v in zip(paths, values, strict=True)}}
        out, _ = call.function.function(type(state).from_flat_path(changed), *others)
        return [x for x in tree_leaves(out) if is_value(x) and np.result_type(x).kind in "fcV"]

    outs, back = vjp(results, [flat[path].value for path in paths])
    rng = np.random.default_rng(call.seed)
    cotangents = [np.asarray(rng.normal(size=x.shape)).astype(x.dtype) for x in outs]
    (found,) = back(cotangents)
    return {
        (path[0], tuple(path[1:]))
        for path, ct in zip(paths, found, strict=True)
        if any(np.any(np.asarray(x) != 0) or not np.asarray(x).size for x in tree_leaves(ct))
    }


def _depends(call: FunctionCall, path: Path) -> bool:
    """Tell whether a result is computed from a parameter, as far as the program shows."""
    state, *others = call.function.arguments(call.operands)
    flat = state.flat_state()

    def results(value: Any) -> list[Any]:
        changed = type(state).from_flat_path({**flat, path: flat[path].replace(value)})
        return tree_leaves(call.function.function(changed, *others)[0])

    closed = make_jaxpr(results)(flat[path].value)
    return any(_flow(closed.jaxpr, [True] * len(closed.jaxpr.invars)))


def _flow(jaxpr: Jaxpr, given: Sequence[bool]) -> list[bool]:
    """The results of a program that derivatives flow to, from the operands that are said."""
    known = {var: flag for var, flag in zip(jaxpr.invars, given, strict=True) if flag}
    for eqn in jaxpr.eqns:
        flags = [isinstance(x, Var) and x in known for x in eqn.invars]
        if not any(flags) or eqn.primitive.name == "stop_gradient":
            continue
        inner = [one.jaxpr for _, one in subjaxprs(eqn.params)]
        through = [True] * len(eqn.outvars)
        sizes = (len(flags), len(eqn.outvars))
        same = len(inner) == 1 and sizes == (len(inner[0].invars), len(inner[0].outvars))
        if same and eqn.primitive.name != "scan":
            through = _flow(inner[0], flags)
        known |= {var: True for var, flag in zip(eqn.outvars, through, strict=True) if flag}
    return [isinstance(x, Var) and x in known for x in jaxpr.outvars]


# ------------------------------------------------------------------------------- parameters


def _parameters_apart(call: FunctionCall) -> None:
    """No layer occurs twice in a list, and no two parameters start with the same numbers."""
    for root in _modules(call):
        _require_once(root)
        _require_different(root)


def _require_once(root: Any) -> None:
    for path, node in iter_graph(root):
        items = list(node) if isinstance(node, list | tuple) or _is_list(node) else []
        objects = [x for x in items if isinstance(x, Object)]
        twice = next((x for x in objects if sum(x is y for y in objects) > 1), None)
        if twice is not None and any(_trains(x) for _, x in iter_variables(twice)):
            raise Mismatch(
                f"{_attribute(path) or type(root).__qualname__} holds the same "
                f"{type(twice).__qualname__} more than once, so its places share their parameters. "
                f"Make a layer for each place.",
                rule=_place(type(_owner(root, (*path, 0))), "__init__"),
            )


def _is_list(node: Any) -> bool:
    return type(node).__name__ == "List" and hasattr(node, "__iter__")


def _require_different(root: Any) -> None:
    seen: dict[Any, Path] = {}
    for path, x in iter_variables(root):
        if not _trains(x) or not is_value(x.value):
            continue
        values = np.asarray(x.value)
        if values.size < 2 or np.all(values == values.flat[0]):
            continue
        key = (values.shape, values.tobytes())
        first = seen.setdefault(key, path)
        if first != path:
            common = [a for a, b in zip(first, path, strict=False) if a == b]
            raise Mismatch(
                f"the parameters {_attribute(first)} and {_attribute(path)} start with the same "
                f"random numbers: they were made with the same key. Give each layer the one Rngs "
                f"of the model, which counts.",
                rule=_place(type(_owner(root, (*common, "")[: len(common) + 1])), "__init__"),
            )


# --------------------------------------------------------------------------- random numbers


def _new_numbers(call: FunctionCall) -> None:
    """Raise when random numbers are the same in the next call."""
    modules = _modules(call)
    nodes = [node for root in modules for _, node in iter_graph(root)]
    active = any(isinstance(x, Dropout) and 0 < x.rate < 1 and not x.deterministic for x in nodes)
    keys = [x for root in modules for _, x in iter_variables(root) if isinstance(x, RngKey)]
    if not active and not keys:
        raise NotApplicable("it draws no random numbers")
    state, *others = call.function.arguments(call.operands)
    first, after = _leaves(call.function.function(state, *others))
    again, _ = _leaves(call.function.function(after, *others))
    if not _same(first, again):
        return
    if not active and _same(first, _leaves(call.function.function(_other_keys(state), *others))[0]):
        raise NotApplicable("no result depends on random numbers")
    raise Mismatch(
        "draws the same random numbers in each call, so that dropout leaves out the same elements "
        "all the time. Take a new key from an Rngs that the module keeps.",
        rule=_place(type(modules[0]), "__call__"),
    )


def _leaves(result: tuple[Any, Any]) -> tuple[list[Any], Any]:
    return tree_leaves(result[0]), result[1]


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return all(np.array_equal(np.asarray(x), np.asarray(y)) for x, y in zip(a, b, strict=True))


def _other_keys(state: Any) -> Any:
    """The state with other random keys."""
    from bindax_random import fold_in

    flat = {
        path: x.replace(fold_in(x.value, 1)) if isinstance(x, RngKey) else x
        for path, x in state.flat_state().items()
    }
    return type(state).from_flat_path(flat)
