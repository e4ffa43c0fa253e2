"""Bad inputs made from the samples: operands of other types, and arguments with other values."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import _differential as differential
import _jax_reference
import jax
import numpy as np

import bindax_transforms as bt
from bindax import lax
from bindax_core.extend import ShapedArray
from bindax_lax_basic.samples.calls import SAMPLES, Numbers, Operand, Sample
from bindax_lax_basic.samples.contractions import CONTRACTIONS
from bindax_lax_basic.samples.reductions import Call

DTYPES = tuple(
    lax.dtype(name)
    for name in ("bool", "int32", "uint8", "int64", "bfloat16", "float32", "float64", "complex64")
)
INTEGERS = (-10, -2, -1, 0, 1, 2, 3, 7)
Types = tuple[ShapedArray, ...]


def linalg(name: str) -> Any:
    """The call of a function of linear algebra."""
    return lambda m, *xs: getattr(m.linalg, name)(*xs)


class Case(NamedTuple):
    """A call that may be refused.

    Attributes:
        name: the function.
        what: which operand or argument is changed, and how.
        changed: the operand's type, or the argument's value.
        operands: the types of the operands.
        call: takes a module and the operands.
    """

    name: str
    what: str
    changed: Any
    operands: Types
    call: Any


class Answer(NamedTuple):
    """What a library says to a call: the types of the results, or an error."""

    types: tuple[tuple[Any, str], ...]
    error: str

    @property
    def accepted(self) -> bool:
        return not self.error


X, V, I = Operand((2, 3), "float32"), Operand((5,), "float32"), Operand((), "int32")
IMAGE, KERNEL, SQUARE = (Operand(shape, "float32") for shape in ((2, 3, 5), (4, 3, 3), (3, 3)))
LOCAL = Operand((4, 9, 5), "float32")
STRIDES = {"window_strides": (1,), "padding": ((1, 1),)}
RAGGED = Numbers("RaggedDotDimensionNumbers", ((((1,), (1,)), ((), ())), (0,), (0,)))
COMPOSED: tuple[Sample | Call, ...] = (
    Sample("broadcast", (X,), {"sizes": (2, 3)}),
    Sample("broadcast_like", (Operand((3,), "float32"), X)),
    Sample("conv_general_dilated_patches", (IMAGE,), {"filter_shape": (3,), **STRIDES}),
    Sample("conv_general_dilated_local", (IMAGE, LOCAL), {"filter_shape": (3,), **STRIDES}),
    Sample(
        "conv_with_general_padding",
        (IMAGE, KERNEL),
        {**STRIDES, "lhs_dilation": (2,), "rhs_dilation": (1,)},
    ),
    Sample("dynamic_slice", (V, Operand((1,), "int32")), {"slice_sizes": (2,)}),
    Sample("dynamic_update_index_in_dim", (X, Operand((3,), "float32"), I), {"axis": 0}),
    Sample("dynamic_update_slice", (V, Operand((2,), "float32"), Operand((1,), "int32"))),
    Sample("empty", (), {"shape": (2, 3), "dtype": np.dtype(np.float32)}),
    Sample("full", (), {"shape": (2, 3), "fill_value": 1.0, "dtype": np.dtype(np.float32)}),
    Sample("full_like", (X,), {"fill_value": 1.0, "shape": (4,), "dtype": np.dtype(np.int32)}),
    Sample("index_in_dim", (X,), {"index": 1, "axis": 1}),
    Call("index_take", (X, Operand((4,), "int32")), lambda m, x, i: m.index_take(x, (i,), (1,))),
    Sample("iota", (), {"dtype": np.dtype(np.int32), "size": 3}),
    Sample("reciprocal", (X,)),
    Sample("select", (Operand((2, 3), "bool"), X, X)),
    Sample("slice_in_dim", (X,), {"start_index": 1, "limit_index": 3, "stride": 1, "axis": 1}),
    Sample("ragged_dot", (X, Operand((2, 3, 4), "float32"), Operand((2,), "int32"))),
    Sample(
        "ragged_dot_general",
        (X, Operand((2, 3, 4), "float32"), Operand((2,), "int32")),
        {"ragged_dot_dimension_numbers": RAGGED},
    ),
    Sample("rng_uniform", (Operand((), "float32"),) * 2, {"shape": (2, 3)}),
    Call(
        "scaled_dot",
        (Operand((3, 4), "float32"), Operand((4, 2), "float32"), Operand((3, 2), "float32")),
        lambda m, x, y, scale: m.scaled_dot(x, y, lhs_scale=scale),
    ),
    Call("cholesky_update", (SQUARE, SQUARE._replace(shape=(3,))), linalg("cholesky_update")),
    Call("ormqr", (SQUARE, SQUARE._replace(shape=(3,)), SQUARE), linalg("ormqr")),
    Call("qdwh", (SQUARE,), linalg("qdwh")),
    Call("symmetric_product", (X, SQUARE._replace(shape=(2, 2))), linalg("symmetric_product")),
)
"""Calls of functions that are made of others, and of which there are no samples."""


def all_cases() -> list[Case]:
    """The first sample of each function with one operand or argument changed."""
    found: list[Case] = []
    for subject in first_of_each([*differential.subjects(), *COMPOSED]):
        types = types_of(subject.operands)
        for what, changed, others in other_operands(types):
            found.append(Case(subject.name, what, changed, others, subject.call))
    samples = [s for s in (*SAMPLES, *CONTRACTIONS, *COMPOSED) if getattr(s, "arguments", None)]
    for sample in first_of_each(samples):
        types = types_of(sample.operands)
        for key, value in sample.arguments.items():
            for other in other_values(value):
                call = sample._replace(arguments={**sample.arguments, key: other}).call
                found.append(Case(sample.name, f"{key}={other!r}", other, types, call))
    return found


def types_of(operands: Any) -> Types:
    """The types of arrays, or of the operands of a sample."""
    return tuple([ShapedArray(x.shape, lax.dtype(x.dtype)) for x in operands])


def first_of_each(samples: list[Any]) -> list[Any]:
    """The first sample of each function, and of each number of operands."""
    return list({(s.name, len(s.operands)): s for s in reversed(samples)}.values())


def other_operands(types: Types) -> Iterator[tuple[str, ShapedArray, Types]]:
    """Operands one of which has another dtype or shape."""
    for i, aval in enumerate(types):
        others = [aval.update(dtype=dtype) for dtype in DTYPES if dtype != aval.dtype]
        others += [aval.update(shape=shape) for shape in other_shapes(aval.shape)]
        for other in others:
            what = f"operand {i}: {other.str_short()}"
            yield what, other, (*types[:i], other, *types[i + 1 :])
    if len(types) > 1:
        for dtype in DTYPES:
            all_types = tuple([aval.update(dtype=dtype) for aval in types])
            yield f"all {dtype.name}", all_types[0], all_types


def other_shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    yield from ((2, *shape), (1, *shape), (*shape, 1))
    if shape:
        yield from (shape[1:], ())
    for axis, size in enumerate(shape):
        for other in sorted({0, 1, size + 1} - {size}):
            yield (*shape[:axis], other, *shape[axis + 1 :])


def other_values(value: Any) -> Iterator[Any]:
    """Values of an argument, legal ones among them."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, np.integer)):
        yield from (n for n in INTEGERS if n != value)
        yield "x"
    elif isinstance(value, float):
        yield from (0.0, "x")
    elif isinstance(value, str):
        yield from ("unheard-of", 3)
    elif isinstance(value, np.dtype):
        yield from (dtype for dtype in DTYPES if dtype != value)
    elif type(value) is Numbers:
        for fields in other_values(value.fields):
            if isinstance(fields, tuple) and len(fields) == len(value.fields):
                yield value._replace(fields=fields)
    elif isinstance(value, tuple):
        yield from (value[:-1], (*value, *(value[-1:] or (0,))))
        for i, entry in enumerate(value):
            for other in other_values(entry):
                yield (*value[:i], other, *value[i + 1 :])


def answer_of_bindax(case: Case) -> Answer:
    """The types that tracing gives, or its error."""
    try:
        closed = bt.make_jaxpr(lambda *xs: case.call(lax, *xs))(*case.operands)
    except Exception as error:
        return Answer((), f"{type(error).__name__}: {error}")
    return Answer(tuple([(aval.shape, aval.dtype.name) for aval in closed.out_avals]), "")


def module_of_jax(case: Case) -> Any:
    """Where a function is: in the reference, but without what that broadcasts for the samples."""
    broadcasting = "clamp", "random_gamma_grad"
    return jax.lax if case.name in broadcasting else _jax_reference.reference


def answer_of_jax(case: Case) -> Answer:
    """The types that tracing gives; an error of the lowering counts where tracing gives none."""
    types = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in case.operands]
    program = jax.jit(lambda *xs: case.call(module_of_jax(case), *xs))
    try:
        outs = jax.tree.leaves(jax.eval_shape(program, *types))
    except Exception as error:
        return Answer((), f"{type(error).__name__}: {error}")
    return Answer(tuple([(out.shape, out.dtype.name) for out in outs]), "")


def refused_when_lowered(case: Case) -> bool:
    """Whether JAX refuses a call that it traces when it lowers or compiles the program."""
    if case.name == "rng_uniform":
        return True  # to compile it for what bindax refuses ends the process
    types = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in case.operands]
    program = jax.jit(lambda *xs: case.call(module_of_jax(case), *xs))
    try:
        program.lower(*types).compile()
    except Exception:
        return True
    return False
