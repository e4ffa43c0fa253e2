"""Jaxprs and types of Python functions; values that are computed while one is traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, overload

from bindax_core.extend import (
    AbstractValue,
    Array,
    ClosedJaxpr,
    DebugInfo,
    PyTreeDef,
    ShapedArray,
    Var,
    api_boundary,
    canonicalize_aval,
    eval_context,
    is_masked,
    is_value,
    trace_state,
    tree_flatten,
    tree_unflatten,
    typeof,
    unknown_type_error,
    unwrapped,
    wraps,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import flatten_function, parameter_names
from bindax_transforms.batching.named_axes import axis_index_p, name_axes_of
from bindax_transforms.staging import static_arguments as arguments
from bindax_transforms.staging.interning import constant_key
from bindax_transforms.staging.jaxpr_trace import JaxprTracer
from bindax_transforms.staging.reference import Reference, check_distinct, has_references
from bindax_transforms.staging.staged_program import (
    on_values,
    stage_with_references,
    with_constants,
)
from bindax_transforms.staging.static_arguments import JitOptions

AxisEnv = Sequence[tuple[Any, int]]
"""Names of axes and their sizes."""

_MOST_BYTES = 2**20
"""Of a constant that is compared with others."""


def abstractify(x: Any, name: str) -> Any:
    """The type of a value, or of anything with a shape and a dtype."""
    if isinstance(x, AbstractValue):
        return canonicalize_aval(x)
    if is_value(x):
        return typeof(x)
    if hasattr(x, "shape") and hasattr(x, "dtype") and not is_masked(x):
        return canonicalize_aval(ShapedArray(tuple(x.shape), x.dtype))
    raise unknown_type_error(x, f"{name}: ")


def operand_of(x: Any) -> Any:
    """The operand that a value stands for: a type, inside of ``eval_shape``, for a value of it."""
    main = trace_state.dynamic
    if isinstance(x, AbstractValue) and main is not None:
        if main.origin.transformation == "eval_shape":
            aval = canonicalize_aval(x)
            return JaxprTracer(main.trace, aval, main.global_data.new_arg(aval))
        return x
    return unwrapped(x)


def _staged(
    name: str,
    fun: Callable[..., Any],
    static_argnums: tuple[int, ...],
    args: Any,
    kwargs: Any,
    axis_env: AxisEnv = (),
) -> tuple[ClosedJaxpr, PyTreeDef]:
    options = JitOptions(static_argnums=static_argnums)
    dynamic_args, dynamic_kwargs, _ = arguments.split_static(fun, options, args, kwargs)
    leaves, tree = tree_flatten((dynamic_args, dynamic_kwargs))
    avals = [x.aval if isinstance(x, Reference) else abstractify(x, name) for x in leaves]
    origin = DebugInfo(name, fun)
    dynamic = arguments.with_static(fun, options, args, kwargs)
    flat_function, out_tree = flatten_function(dynamic, tree, origin)
    if has_references(leaves):
        kinds = [x.kind if isinstance(x, Reference) else None for x in leaves]
        check_distinct(leaves, partial(parameter_names, fun, dynamic_args, dynamic_kwargs))
        flat_function = on_values(flat_function, kinds)
    if axis_env:
        flat_function = _with_named_axes(flat_function, axis_env)
    staged = stage_with_references(flat_function, avals, origin)
    if not staged.references:
        return staged.program, out_tree()
    return with_constants(staged.program, staged.load()), out_tree()


def _with_named_axes(
    function: Callable[..., list[Any]], axis_env: AxisEnv
) -> Callable[..., list[Any]]:
    def named(*values: Any) -> list[Any]:
        with name_axes_of(axis_env):
            return function(*values)

    return named


def _without_unused_indices(closed: ClosedJaxpr) -> ClosedJaxpr:
    """A jaxpr without the indices of axes that the function does not use."""
    used = {x for eqn in closed.eqns for x in eqn.invars} | set(closed.jaxpr.outvars)
    eqns = [e for e in closed.eqns if e.primitive is not axis_index_p or e.outvars[0] in used]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=eqns), closed.consts)


def _with_each_constant_once(closed: ClosedJaxpr) -> ClosedJaxpr:
    """A jaxpr in which constants that are equal are one, such as copies of an array of NumPy."""
    jaxpr = closed.jaxpr
    first: dict[Any, Var] = {}
    consts: dict[Var, Any] = {}
    same: dict[Any, Any] = {}
    for v, const in zip(jaxpr.constvars, closed.consts, strict=True):
        small = type(const) is Array and const.on_host and const.nbytes <= _MOST_BYTES
        key = (v.aval, constant_key(const)) if small else id(const)
        same[v] = first.setdefault(key, v)
        consts.setdefault(same[v], const)
    if len(first) == len(same):
        return closed
    eqns = [eqn.replace(invars=[same.get(x, x) for x in eqn.invars]) for eqn in jaxpr.eqns]
    outs = [same.get(x, x) for x in jaxpr.outvars]
    jaxpr = jaxpr.replace(constvars=list(consts), eqns=eqns, outvars=outs)
    return ClosedJaxpr(jaxpr, list(consts.values()))


@overload
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: AxisEnv | None = None,
    return_shape: Literal[False] = False,
) -> Callable[..., ClosedJaxpr]: ...
@overload
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: AxisEnv | None = None,
    *,
    return_shape: Literal[True],
) -> Callable[..., tuple[ClosedJaxpr, Any]]: ...
@overload
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: AxisEnv | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]: ...
@api_boundary
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: AxisEnv | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function that gives the jaxpr of ``fun`` for arguments of the types it is called with.

    Args:
        fun: a function of arrays and trees of arrays.
        static_argnums: positions of arguments that are Python values, not arrays.
        axis_env: pairs of a name and a size, for functions such as ``psum`` along named axes. The
            jaxpr is evaluated where axes have these names.
        return_shape: whether to return also the types of the results in their structure.

    Returns:
        A function from arguments, or their types, to a ``ClosedJaxpr``. It takes the values of
        mutable array references, and returns their new ones after the results.

    >>> from bindax_transforms import make_jaxpr
    >>> print(make_jaxpr(lambda x: 2.0 * x)(3.0))
    { lambda a:float64[] .
      let b:float64[] = mul 2.0 a
      in ( b ) }
    """
    check_function("make_jaxpr", "fun", fun)
    static = arguments.positions(static_argnums)
    arguments.check_positions(fun, static, transformation="make_jaxpr")

    @wraps(fun)
    @api_boundary
    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        jaxpr, out_tree = _staged("make_jaxpr", fun, static, args, kwargs, axis_env or ())
        if axis_env:
            jaxpr = _without_unused_indices(jaxpr)
        if len(jaxpr.consts) > 1:
            jaxpr = _with_each_constant_once(jaxpr)
        if return_shape:
            return jaxpr, tree_unflatten(out_tree, jaxpr.out_avals[: out_tree.num_leaves])
        return jaxpr

    jaxpr_of.__name__ = f"make_jaxpr({jaxpr_of.__name__})"
    jaxpr_of.__qualname__ = f"make_jaxpr({jaxpr_of.__qualname__})"
    return jaxpr_of


@api_boundary
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The types of the results of a function, without computing them.

    Args:
        fun: a function of arrays and trees of arrays.
        args: the arguments, or their types.
        kwargs: keyword arguments, or their types.

    Returns:
        A ``ShapeDtypeStruct`` for each result, in the structure of the output. Results that are
        types already stay as they are.

    >>> import numpy as np
    >>> from bindax_transforms import eval_shape
    >>> eval_shape(lambda x: x * x, np.zeros((3, 2), np.float32))
    ShapeDtypeStruct(shape=(3, 2), dtype=float32)
    """
    check_function("eval_shape", "fun", fun)
    types: dict[int, AbstractValue] = {}

    @wraps(fun)
    def with_values(*args: Any, **kwargs: Any) -> Any:
        """Return a value in place of each type among the results."""
        leaves, tree = tree_flatten(fun(*args, **kwargs))
        types.update((i, x) for i, x in enumerate(leaves) if isinstance(x, AbstractValue))
        return tree_unflatten(tree, [0 if i in types else x for i, x in enumerate(leaves)])

    jaxpr, out_tree = _staged("eval_shape", with_values, (), args, kwargs)
    found = [types.get(i, aval) for i, aval in enumerate(jaxpr.out_avals[: out_tree.num_leaves])]
    return tree_unflatten(out_tree, found)


@contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Compute with concrete values at once, while a function around the block is traced.

    Operations on traced values are staged all the same.

    >>> from bindax_lax_basic import add
    >>> from bindax_transforms import ensure_compile_time_eval, make_jaxpr
    >>> def f(x):
    ...     with ensure_compile_time_eval():
    ...         n = int(add(1, 2))
    ...     return add(x, n)
    >>> make_jaxpr(f)(1)
    { lambda a:int64[] . let b:int64[] = add a 3 in ( b ) }
    """
    with eval_context():
        yield
