"""``ffi_call``: a call of a foreign kernel, and the primitive that it binds."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    BackendError,
    ClosedJaxpr,
    Effect,
    Jaxpr,
    JaxprEqn,
    LoweringContext,
    Primitive,
    ShapedArray,
    Var,
    api_boundary,
    as_array,
    config,
    dtype_name,
    executable_of,
    find_backend,
    operations_for,
    primitive,
    rules,
    typeof,
)
from bindax_ffi.attributes import make_attributes
from bindax_ffi.lowering import TYPED, custom_call
from bindax_ffi.targets import has_kernel, missing_target, numpy_rule

__all__ = ["ffi_call", "ffi_call_p"]

VMAP_METHODS = (
    None,
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)
FFI = Effect("FFI")
NO_DERIVATIVE = (
    "a foreign kernel has no derivative; give that of the function around ffi_call with "
    "custom_jvp or custom_vjp, or make the kernel a primitive with a jvp rule"
)


def ffi_call(
    target_name: str,
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_layouts: Sequence[Any] | None = None,
    output_layouts: Any = None,
    input_output_aliases: Mapping[int, int] | None = None,
    custom_call_api_version: int = TYPED,
    legacy_backend_config: str | None = None,
) -> Callable[..., Any]:
    """A function that calls a kernel.

    The kernel is found by its name when a call is evaluated or compiled. Where it has a rule for
    NumPy, eager calls use it.

    Args:
        target_name: the name given to ``register_ffi_target``.
        result_shape_dtypes: the type of the result, what has ``shape`` and ``dtype``; or a
            sequence of them for as many results.
        has_side_effect: whether it is called though nobody uses its results.
        vmap_method: what ``vmap`` does. ``"sequential"`` calls the kernel for each element, in a
            loop, ``"sequential_unrolled"`` in as many calls. With the others one call gets the
            whole batch: mapped arguments have a new first axis, and so must the results. Other
            arguments get a first axis of size 1 with ``"expand_dims"``, one of the size of the
            batch with ``"broadcast_all"``, and none with ``"legacy_vectorized"``. With None,
            ``vmap`` is an error.
        input_layouts: for each argument its axes from the slowest to the fastest in memory, or
            None for the usual order.
        output_layouts: the same for the result, or for each of several results.
        input_output_aliases: ``{argument: result}``: the result is written where the argument is.
        custom_call_api_version: 4, the typed interface; below, XLA checks nothing of a call.
        legacy_backend_config: a string for kernels of versions below 4, which take no attributes.

    Returns:
        ``(*arrays, **attributes) -> array``, or a list or tuple of arrays for a list or tuple of
        result types. Attributes are Python or NumPy scalars, strings, arrays, tuples and dicts.

    Raises:
        ValueError: when an option is none of these, or does not fit the arguments.
        TypeError: when an argument is no array, or an attribute of no known type.

    >>> import numpy as np
    >>> from bindax_core import ShapeDtypeStruct
    >>> from bindax_ffi import ffi_call, register_ffi_target
    >>> register_ffi_target("doc.sum", numpy=lambda x: x.sum(-1))
    >>> ffi_call("doc.sum", ShapeDtypeStruct((), np.float32))(np.ones(3, np.float32))
    Array(3., dtype=float32)
    """
    _check_options(vmap_method, custom_call_api_version, legacy_backend_config)
    options = {
        "target_name": target_name,
        "has_side_effect": bool(has_side_effect),
        "vmap_method": vmap_method,
        "custom_call_api_version": custom_call_api_version,
        "legacy_backend_config": legacy_backend_config,
    }
    layouts = (input_layouts, output_layouts)
    return _caller(result_shape_dtypes, layouts, input_output_aliases or {}, options)


def _caller(
    kinds: Any, layouts: tuple[Any, Any], aliases: Mapping[int, int], options: dict[str, Any]
) -> Callable[..., Any]:
    """The function that ``ffi_call`` returns."""
    several = isinstance(kinds, Sequence)
    avals = tuple([_announced(kind) for kind in (kinds if several else [kinds])])
    input_layouts, output = layouts
    given = output if several or output is None else [output]
    known = {**options, "result_avals": avals, "output_layouts": _layouts("output", given, avals)}

    def call(*args: Any, **attributes: Any) -> Any:
        outs = _bind(known, input_layouts, aliases, args, attributes)
        if not several:
            return outs[0]
        return tuple(outs) if isinstance(kinds, tuple) else list(outs)

    call.__name__ = call.__qualname__ = options["target_name"]
    return api_boundary(call)


def _bind(
    options: dict[str, Any],
    input_layouts: Sequence[Any] | None,
    aliases: Mapping[int, int],
    args: Sequence[Any],
    attributes: Mapping[str, Any],
) -> Sequence[Any]:
    """Apply the primitive; what fits to what is known now that the arguments are."""
    version = options["custom_call_api_version"]
    if attributes and version < TYPED:
        raise ValueError(
            f"ffi_call of {options['target_name']!r}: kernels of version {version} take no "
            f"attributes, but got {', '.join(attributes)}; use legacy_backend_config."
        )
    avals = [typeof(x) for x in args]
    layouts = _layouts("input", input_layouts, avals)
    results = options["result_avals"], options["output_layouts"]
    return ffi_call_p.bind(  # type: ignore[no-any-return]
        *args,
        **options,
        input_layouts=layouts,
        input_output_aliases=_aliases(aliases, (avals, layouts), results),
        attributes=make_attributes("ffi_call", attributes),
    )


# ------------------------------------------------------------------------------------ arguments


def _check_options(method: str | None, version: int, legacy_config: str | None) -> None:
    if method not in VMAP_METHODS:
        listed = ", ".join(map(repr, VMAP_METHODS))
        raise ValueError(f"vmap_method of ffi_call must be one of {listed}, but it is {method!r}.")
    if version >= TYPED and legacy_config is not None:
        raise ValueError(
            f"legacy_backend_config of ffi_call is for kernels of versions below {TYPED}, but "
            f"custom_call_api_version is {version}; pass attributes by keyword."
        )


def _announced(kind: Any) -> ShapedArray:
    shape, dtype = getattr(kind, "shape", None), getattr(kind, "dtype", None)
    if shape is None or dtype is None:
        raise TypeError(
            f"result_shape_dtypes of ffi_call must be ShapeDtypeStruct(shape, dtype), an array, or "
            f"a sequence of them, but it is or holds {kind!r:.80}."
        )
    return ShapedArray(tuple(shape), dtype)


def _layouts(
    side: str, layouts: Sequence[Any] | None, avals: Sequence[Any]
) -> tuple[tuple[int, ...] | None, ...]:
    """Layouts as XLA has them, from the fastest axis to the slowest; None for the usual one."""
    if layouts is None:
        return (None,) * len(avals)
    if len(layouts) != len(avals):
        raise ValueError(
            f"{side}_layouts of ffi_call has {len(layouts)} layouts, but there are {len(avals)} "
            f"{side}s; give one for each, or None."
        )
    made: list[tuple[int, ...] | None] = []
    for i, (layout, aval) in enumerate(zip(layouts, avals, strict=True)):
        order = getattr(layout, "major_to_minor", layout)
        if order is not None and sorted(order) != list(range(aval.ndim)):
            raise ValueError(
                f"{side}_layouts[{i}] of ffi_call is {layout!r}, but must name each axis of "
                f"{aval.str_short()} once, from the slowest to the fastest."
            )
        made.append(None if order is None else tuple(order)[::-1])
    return tuple(made)


def _order(aval: Any, layout: tuple[int, ...] | None) -> tuple[int, ...]:
    return tuple(range(aval.ndim))[::-1] if layout is None else layout


def _aliases(aliases: Mapping[int, int], inputs: Any, outputs: Any) -> tuple[tuple[int, int], ...]:
    made = []
    for i, o in sorted(aliases.items()):
        for name, index, (avals, _) in (("input", i, inputs), ("output", o, outputs)):
            if not 0 <= index < len(avals):
                raise ValueError(
                    f"input_output_aliases of ffi_call has {{{i}: {o}}}, but there is no {name} "
                    f"{index}: there are {len(avals)}."
                )
        x, y = inputs[0][i], outputs[0][o]
        same = x.shape == y.shape and x.dtype == y.dtype
        if not same or _order(x, inputs[1][i]) != _order(y, outputs[1][o]):
            raise ValueError(
                f"input_output_aliases of ffi_call has {{{i}: {o}}}, but input {i} is "
                f"{x.str_short()} and output {o} is {y.str_short()}; both need one shape, dtype "
                f"and layout."
            )
        made.append((int(i), int(o)))
    return tuple(made)


# ----------------------------------------------------------------------------------- evaluation


def _impl(*operands: Any, target_name: str, result_avals: Any, **params: Any) -> Sequence[Any]:
    backend = find_backend()
    compiles = backend.name != "numpy"
    rule = numpy_rule(target_name)
    if rule is not None and not (compiles and config.eager == "compile"):
        arrays = [as_array(x).numpy() for x in operands]
        found = _with_numpy(target_name, rule, arrays, result_avals, params["attributes"].values)
        return [as_array(x) for x in found]
    if not compiles:
        raise BackendError(
            f"ffi_call: the kernel {target_name!r} is compiled code, and nothing that compiles is "
            f"in use (the backend is {backend.name!r}). Install bindax-xla-backend, or give a "
            f"function of NumPy: register_ffi_target({target_name!r}, numpy=...)."
        )
    items = tuple({"target_name": target_name, "result_avals": result_avals, **params}.items())
    program = _program(tuple([typeof(x) for x in operands]), items)
    run = executable_of(program, backend, name=f"ffi_call[{target_name}]", keep_unused=True)
    return run(*operands)


@functools.lru_cache(maxsize=256)
def _program(avals: tuple[Any, ...], params: tuple[tuple[str, Any], ...]) -> ClosedJaxpr:
    """The program of one call."""
    invars = [Var(aval) for aval in avals]
    outvars = [Var(aval) for aval in dict(params)["result_avals"]]
    eqn = JaxprEqn(ffi_call_p, invars, outvars, dict(params))
    return ClosedJaxpr(Jaxpr((), invars, outvars, [eqn]))


def _with_numpy(
    name: str,
    rule: Callable[..., Any],
    arrays: Sequence[np.ndarray[Any, Any]],
    avals: Sequence[Any],
    attributes: Mapping[str, Any],
) -> list[np.ndarray[Any, Any]]:
    """The results of a rule for NumPy, checked."""
    results = rule(*arrays, **attributes)
    listed = list(results) if isinstance(results, list | tuple) else [results]
    if len(listed) != len(avals):
        raise TypeError(
            f"the NumPy rule of the kernel {name!r} returned {len(listed)} results, but ffi_call "
            f"announced {len(avals)}."
        )
    made = []
    for i, (x, aval) in enumerate(zip(listed, avals, strict=True)):
        array = np.asarray(x)
        if array.shape != aval.shape or array.dtype != aval.dtype:
            sizes = ",".join(map(str, array.shape))
            raise TypeError(
                f"the NumPy rule of the kernel {name!r} returned {dtype_name(array.dtype)}[{sizes}]"
                f" as result {i}, but ffi_call announced {aval.str_short()}."
            )
        made.append(array)
    return made


def _lowering(
    ctx: LoweringContext, *values: Any, target_name: str, result_avals: Any, **params: Any
) -> list[Any]:
    attributes, version = params["attributes"], params["custom_call_api_version"]
    if has_kernel(target_name, ctx.platform):
        return custom_call(
            ctx,
            values,
            target=target_name,
            config=attributes if version >= TYPED else params["legacy_backend_config"],
            layouts=(params["input_layouts"], params["output_layouts"]),
            aliases=params["input_output_aliases"],
            has_side_effect=params["has_side_effect"],
            api_version=version,
        )
    rule = numpy_rule(target_name)
    if rule is None:
        raise BackendError(missing_target(target_name, ctx.platform))

    def on_host(*arrays: Any) -> Any:
        return _with_numpy(target_name, rule, arrays, result_avals, attributes.values)

    on_host.__name__ = f"NumPy rule of {target_name}"
    return ctx.callback(on_host, values, result_avals, pure=not params["has_side_effect"])


# ------------------------------------------------------------------------------------- batching


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[Sequence[Any], list[int]]:
    method = params["vmap_method"]
    if method is None:
        raise ValueError(
            f"vmap of ffi_call of {params['target_name']!r} needs to know how the kernel takes "
            f"batches: give vmap_method='sequential' for one call for each element, or "
            f"'expand_dims' or 'broadcast_all' for one call with the batch."
        )
    if method.startswith("sequential"):
        outs = _each(axis_size, operands, dims, method == "sequential_unrolled", params)
        return outs, [0] * len(outs)
    aliased = {i for i, _ in params["input_output_aliases"]}
    moved, layouts = [], []
    for i, (x, dim, layout) in enumerate(zip(operands, dims, params["input_layouts"], strict=True)):
        # A result is written where an aliased operand is, so that has the batch in any case.
        x_method = "broadcast_all" if i in aliased else method
        moved.append(_leading(x, dim, axis_size, x_method))
        grows = dim is not None or x_method != "legacy_vectorized"
        layouts.append(_outermost(layout) if grows else layout)
    batched = {
        **params,
        "input_layouts": tuple(layouts),
        "output_layouts": tuple([_outermost(layout) for layout in params["output_layouts"]]),
        "result_avals": tuple(
            [a.update(shape=(axis_size, *a.shape)) for a in params["result_avals"]]
        ),
    }
    outs = ffi_call_p.bind(*moved, **batched)
    return outs, [0] * len(outs)


def _leading(x: Any, dim: int | None, axis_size: int, method: str) -> Any:
    """An operand with its batch axis first, or what the method puts there for one without."""
    operations = operations_for(typeof(x))
    if dim is not None:
        return operations.move_axis(x, dim, 0)
    if method == "legacy_vectorized":
        return x
    return operations.broadcast_axis(x, axis_size if method == "broadcast_all" else 1, 0)


def _outermost(layout: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The layout with a new first axis, the slowest."""
    return None if layout is None else (*[axis + 1 for axis in layout], 0)


def _each(
    axis_size: int,
    operands: Sequence[Any],
    dims: Sequence[int | None],
    unrolled: bool,
    params: dict[str, Any],
) -> list[Any]:
    """One call for each element; the results with the batch first."""
    from bindax_control_flow import map as map_in_loop

    mapped = [_leading(x, d, 0, "") for x, d in zip(operands, dims, strict=True) if d is not None]

    def element(rows: Sequence[Any]) -> list[Any]:
        given = iter(rows)
        full = [x if d is None else next(given) for x, d in zip(operands, dims, strict=True)]
        return list(ffi_call_p.bind(*full, **params))

    if not unrolled or axis_size == 0:
        return list(map_in_loop(element, mapped))
    from bindax_lax_basic import concatenate, expand_dims, index_in_dim

    rows = [element([index_in_dim(x, i, 0, False) for x in mapped]) for i in range(axis_size)]
    columns = zip(*rows, strict=True)
    return [concatenate([expand_dims(x, (0,)) for x in column], 0) for column in columns]


ffi_call_p: Primitive = primitive(
    "ffi_call",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(lambda *avals, result_avals, **params: list(result_avals)),
    rules.effects(lambda *, has_side_effect, **params: frozenset({FFI} if has_side_effect else ())),
    rules.jvp.absent(NO_DERIVATIVE),
    rules.vmap(_vmap),
    rules.transpose.absent(NO_DERIVATIVE),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""Calls a foreign kernel. Parameters: those of ``ffi_call``; layouts from the fastest axis to the
slowest; ``attributes``, the ``Attributes`` of the call."""
