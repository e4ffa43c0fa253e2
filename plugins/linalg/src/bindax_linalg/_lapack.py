"""The rules of primitives that LAPACK computes.

On the CPU, XLA programs call the LAPACK of the backend through custom calls, whose matrices are
stored by columns. Elsewhere the evaluation rule runs on the host. Programs on empty arrays are
constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import LoweringContext, Primitive, Rule, ShapedArray, rules
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import inlined
from bindax_linalg import _matrices as m

Function = Callable[..., Any]

_PREFIX = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def flag(letter: str) -> str:
    """A letter that LAPACK takes, as the text of an attribute."""
    return f"{ord(letter)} : ui8"


def lapack_rules(
    impl: Function,
    rule: Function,
    *,
    generic: Function | None = None,
    transpose: Function | None = None,
    slow: bool = False,
) -> list[Rule]:
    """All but the type and the derivative of a primitive that LAPACK computes on the CPU.

    Other platforms have the ``generic`` rule or evaluate by ``impl`` on the host, as all do for
    empty arrays.
    """

    def lower(primitive: Primitive, ctx: LoweringContext, *values: Any, **params: Any) -> Any:
        single = not primitive.multiple_results
        if any(0 in aval.shape for aval in ctx.avals_in):
            empty = [np.zeros(aval.shape, aval.dtype) for aval in ctx.avals_in]
            outs = impl(*empty, **params)
            constants = [ctx.constant(np.asarray(out)) for out in ([outs] if single else outs)]
            return constants[0] if single else constants
        if ctx.platform == "cpu":
            return rule(ctx, *values, **params)
        if generic is not None:
            return generic(ctx, *values, **params)
        return on_host(ctx, impl, values, params, single=single)

    return [
        rules.impl(impl, slow=slow),
        m.leading_batch(),
        rules.transpose(transpose) if transpose else rules.transpose.absent("it is not linear"),
        rules.lowering["stablehlo"](lower, takes_primitive=True),
    ]


def on_host(
    ctx: LoweringContext,
    impl: Function,
    values: Sequence[Any],
    params: Mapping[str, Any],
    *,
    single: bool,
) -> Any:
    """The result or results of an evaluation rule, which the program calls."""

    def run(*arrays: Any) -> Any:
        outs = impl(*arrays, **params)
        return [outs] if single else outs

    found = ctx.callback(run, values, ctx.avals_out)
    return found[0] if single else found


def call(
    ctx: LoweringContext,
    routine: str,
    values: Sequence[Any],
    results: Sequence[ShapedArray],
    options: Mapping[str, str],
    avals: Sequence[ShapedArray] | None = None,
) -> list[Any]:
    """Call a routine of LAPACK, with options that are text of attributes.

    Its name is without the letter for the dtype, such as ``"potrf"``; where the names for real and
    complex matrices differ it is both, as in ``"orgqr|ungqr"``. The values are the operands of the
    primitive where no types are given; one at least is a matrix.
    """
    avals = avals or ctx.avals_in
    dtype = avals[0].dtype
    batch = max(aval.ndim for aval in avals) - 2
    names = routine.split("|")
    name = names[-1] if dtypes.is_complex(dtype) else names[0]

    def layouts(avals: Sequence[ShapedArray]) -> str:
        return f"[{', '.join(_layout(aval.ndim, batch) for aval in avals)}]"

    config = ", ".join(f"{key} = {text}" for key, text in options.items())
    attributes = {
        "call_target_name": f'"lapack_{_PREFIX[dtype.name]}{name}_ffi"',
        "api_version": "4 : i32",
        "has_side_effect": "false",
        "backend_config": f"{{{config}}}",
        "operand_layouts": layouts(avals),
        "result_layouts": layouts(results),
    }
    if batch and ctx.device_count > 1:
        attributes |= _batch_attributes([aval.shape for aval in avals], results, batch)
    return ctx.op("stablehlo.custom_call", values, results, attributes)


def _batch_attributes(
    shapes: Sequence[tuple[int, ...]], results: Sequence[ShapedArray], batch: int
) -> dict[str, str]:
    """The attributes by which XLA divides a call among devices along its leading axes alone."""
    sizes = dict(zip(_FACTORS, shapes[0][:batch], strict=False))
    common, free = list(sizes), iter(_FACTORS[batch:])

    def factors(shape: tuple[int, ...]) -> str:
        own = [next(free) for _ in shape[batch:]]
        sizes.update(zip(own, shape[batch:], strict=True))
        return f"[{', '.join([*common, *own])}]"

    taken = ", ".join([factors(shape) for shape in shapes])
    given = ", ".join([factors(aval.shape) for aval in results])
    counts = ", ".join([f"{name}={size}" for name, size in sizes.items()])
    return {
        "mhlo.frontend_attributes": f'{{num_batch_dims = "{batch}"}}',
        "sdy.sharding_rule": f"#sdy.op_sharding_rule<({taken})->({given}) {{{counts}}}, custom>",
    }


_FACTORS = [*"ijklmnopqrstuvwxyz", *[f"z_{i}" for i in range(1, 60)]]
"""The names that Shardy gives to the axes of operations, in its order."""


def _layout(rank: int, batch: int) -> str:
    """The axes from the fastest varying to the slowest: rows first in matrices."""
    order = list(range(rank))[::-1]
    if rank == batch + 2:
        order[:2] = order[1::-1]
    return f"dense<[{', '.join(map(str, order))}]> : tensor<{rank}xindex>"


def checked_call(
    ctx: LoweringContext,
    routine: str,
    values: Sequence[Any],
    results: Sequence[ShapedArray],
    options: Mapping[str, str],
    kept: slice = slice(None),
) -> list[Any]:
    """Some of the results of a routine whose last one is an error code, NaN where it is not 0."""
    info = ShapedArray(ctx.avals_in[-1].shape[:-2], m.INT32)
    *found, code = call(ctx, routine, values, [*results, info], options)
    return finish(ctx, [*found[kept], code], [*results[kept], info])


def finish(ctx: LoweringContext, values: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    """The results of a routine before its error code, NaN where that is not zero."""

    def checked(*results: Any) -> list[Any]:
        ok = m.succeeded(results[-1])
        return [m.nan_unless(ok, x) for x in results[:-1]]

    return inlined(ctx, checked, values, avals)
