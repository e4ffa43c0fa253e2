"""Samples of the primitives that call a jaxpr: what ``jit`` and its like put into jaxprs.

The functions are made of operators, which whatever brings array operations supplies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bindax_core.sharding import Layout, NamedSharding, PartitionSpec, make_mesh
from bindax_testing import Sample, array, sample
from bindax_transforms import (
    checkpoint,
    checkpoint_name,
    checkpoint_policies,
    composite,
    custom_jvp,
    custom_vjp,
    custom_vmap,
    dce_sink,
    jit,
    jvp,
    linear_call,
    linear_transpose,
    vjp,
    vmap,
    with_sharding_constraint,
)
from bindax_transforms.compilation.layout_constraint import laid_out

SHAPES = (((2, 3), "float64"), ((), "float64"), ((4,), "float32"), ((2, 0), "float32"))
_REVERSE = "a custom_vjp function has no derivative in forward mode"
REVERSE = dict.fromkeys(("jvp", "linearize", "second order"), _REVERSE)


def _smooth(x: Any, y: Any) -> Any:
    return x * x * y, x + y


def _linear(x: Any, y: Any) -> Any:
    return x + y, x - y


def _partly(x: Any, y: Any) -> Any:
    """One result that is an operand, and one that needs the other operand alone."""
    return x, y * y


def _kept(x: Any, y: Any) -> Any:
    return checkpoint_name(x, "kept") * y, checkpoint_name(y, "other")


def _divided(x: Any, y: Any) -> Any:
    sharding = NamedSharding(make_mesh((1,), ("x",)), PartitionSpec("x"))
    return with_sharding_constraint(x * y, sharding), with_sharding_constraint(y, sharding)


def _ordered(x: Any, y: Any) -> Any:
    backwards = Layout(tuple(reversed(range(x.ndim))))
    return laid_out(x * y, backwards, of_operand=False, what="x * y"), y


def _named(x: Any, y: Any) -> Any:
    return composite(lambda x, y: (x * y, y), "test.product")(x, y)


def _used(x: Any, y: Any) -> Any:
    dce_sink(y * y)
    return x * y, x


def _with_jvp(fun: Any) -> Any:
    """The function with a rule that says what its derivative is anyway."""
    made = custom_jvp(fun)
    made.defjvp(lambda primals, tangents: jvp(fun, primals, tangents))
    return made


def _with_vjp(fun: Any) -> Any:
    made = custom_vjp(fun)
    made.defvjp(lambda *args: (fun(*args), args), lambda args, cts: vjp(fun, *args)[1](cts))
    return made


def _with_parameter(x: Any, y: Any) -> Any:
    """A function with a parameter; one cotangent is computed in a wider float, one is left out."""
    made = custom_vjp(lambda count, x, _: count * x * x, nondiff_argnums=(0,))
    wide = np.ones((), "float64")
    made.defvjp(
        lambda count, x, y: (made(count, x, y), x),
        lambda count, x, ct: (2 * count * x * ct * wide, None),
    )
    return made(3, x, y)


def _saved(x: Any, y: Any) -> Any:
    """Residuals of which a policy keeps those with a name."""
    policy = checkpoint_policies.save_only_these_names("kept")
    return checkpoint(lambda x, y: checkpoint_name(x * y, "kept") * (y * x), policy=policy)(x, y)


def _with_vmap(fun: Any) -> Any:
    made = custom_vmap(fun)

    @made.def_vmap
    def rule(axis_size: int, in_batched: Any, *args: Any) -> Any:
        if not any(in_batched):  # but a tangent is
            return fun(*args), (False, False)
        axes = tuple(0 if flag else None for flag in in_batched)
        return vmap(fun, axes)(*args), (True, True)

    return made


def _with_transpose(x: Any, y: Any) -> Any:
    """A function of two linear arguments that is given its transpose."""
    return linear_call(
        lambda _, given: _linear(*given),
        lambda _, cts: linear_transpose(_linear, x, y)(cts),
        (),
        (x, y),
    )


def _with_residual(x: Any, y: Any) -> Any:
    """A product, linear in the first factor."""
    return linear_call(lambda r, x: x * r, lambda r, ct: ct * r, y, x)


WRAPPERS: Mapping[str, Any] = {
    "jit": jit,
    "checkpoint": checkpoint,
    "custom_jvp_call": _with_jvp,
    "custom_vjp_call": _with_vjp,
    "custom_vmap_call": _with_vmap,
}


def samples() -> Iterator[Sample]:
    """Calls of smooth, linear and partly trivial functions, by each primitive that calls one."""
    for name, wrap in WRAPPERS.items():
        skip = REVERSE if name == "custom_vjp_call" else {}
        for fun in (_smooth, _linear, _partly):
            for shape, dtype in SHAPES if fun is _smooth else SHAPES[:1]:
                operand = array(shape, dtype)
                label = f"{name}-{fun.__name__}-{operand.aval.str_short()}"
                yield sample(wrap(fun), operand, operand, label=label, skip=skip)
    for shape, dtype in SHAPES:
        yield sample(_kept, *[array(shape, dtype)] * 2)
        yield sample(_with_transpose, *[array(shape, dtype)] * 2)
        yield sample(_with_residual, *[array(shape, dtype)] * 2)
        yield sample(_named, *[array(shape, dtype)] * 2)
        yield sample(_used, *[array(shape, dtype)] * 2)
        yield sample(_ordered, *[array(shape, dtype)] * 2)
        if shape:
            yield sample(_divided, *[array(shape, dtype)] * 2)
            yield sample(_with_parameter, *[array(shape, dtype)] * 2, skip=REVERSE)
    yield sample(_saved, *[array((2, 3), "float64")] * 2)
