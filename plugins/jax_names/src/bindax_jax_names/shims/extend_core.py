"""``jax.extend.core``: programs, primitives and the state of tracing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np

from bindax_core import Array
from bindax_core import Literal as Literal
from bindax_core import Var as Var
from bindax_core import jaxpr_as_fun as jaxpr_as_fun
from bindax_core.errors import JaxprTypeError as JaxprTypeError
from bindax_core.extend import AbstractValue, MainTrace, is_value, trace_state
from bindax_core.extend import ClosedJaxpr as ClosedJaxpr
from bindax_core.extend import Jaxpr as _Jaxpr
from bindax_core.extend import JaxprEqn as JaxprEqn
from bindax_core.extend import find_top_trace as find_top_trace
from bindax_core.extend import subjaxprs as _subjaxprs
from bindax_core.extend import typecheck_jaxpr as check_jaxpr
from bindax_jax_names._table import release_numbers
from bindax_jax_names.shims._primitive import Primitive as Primitive
from bindax_jax_names.shims.api_util import DebugInfo as DebugInfo
from bindax_jax_names.shims.errors import InconclusiveDimensionOperation
from bindax_transforms.batching.vmap import BatchTrace

__all__ = [
    "AbstractToken",
    "ClosedJaxpr",
    "DebugInfo",
    "DropVar",
    "Effect",
    "Effects",
    "InconclusiveDimensionOperation",
    "Jaxpr",
    "JaxprEqn",
    "JaxprTypeError",
    "Literal",
    "Primitive",
    "Token",
    "TraceTag",
    "Var",
    "array_types",
    "check_jaxpr",
    "concrete_or_error",
    "create_call_primitive",
    "find_top_trace",
    "gensym",
    "get_opaque_trace_state",
    "jaxpr_as_fun",
    "jaxprs_in_params",
    "mapped_aval",
    "new_jaxpr_eqn",
    "no_effects",
    "nonempty_axis_env_DO_NOT_USE",
    "primal_dtype_to_tangent_dtype",
    "register_call_primitive_rules",
    "set_current_trace",
    "subjaxprs",
    "take_current_trace",
    "unmapped_aval",
    "unsafe_am_i_under_a_jit_DO_NOT_USE",
    "unsafe_am_i_under_a_vmap_DO_NOT_USE",
    "unsafe_get_axis_names_DO_NOT_USE",
    "valid_jaxtype",
]


_NUMBERS = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


class Effect:
    """Base of effects that packages define; programs of bindax have effects of their own."""


Effects = frozenset[Effect]
no_effects: frozenset[Effect] = frozenset()
valid_jaxtype = is_value


class _JaxprType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        # Since 0.12, JAX has one class for jaxprs with their constants and without.
        one_class = release_numbers() >= (0, 12)
        return isinstance(instance, (_Jaxpr, ClosedJaxpr) if one_class else _Jaxpr)

    def __call__(
        cls,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Any],
        eqns: Sequence[JaxprEqn],
        effects: Any = no_effects,
        debug_info: Any = None,
        is_high: bool = False,
    ) -> Any:
        return _Jaxpr(constvars, invars, outvars, eqns)


class Jaxpr(metaclass=_JaxprType):
    """A program, with JAX's arguments; made as ``bindax.Jaxpr``, which finds the effects."""


class DropVar(Var):
    """The result of an equation that nothing uses; in programs of bindax it has a variable."""

    __slots__ = ()


class _TokenType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        shape, dtype = getattr(instance, "shape", None), getattr(instance, "dtype", None)
        return isinstance(instance, Array) and shape == (0,) and bool(dtype == np.bool_)


class Token(metaclass=_TokenType):
    """The type of values that order effects in programs of JAX; those of bindax are empty arrays.

    >>> import bindax
    >>> isinstance(bindax.lax.create_token(), Token), isinstance(bindax.numpy.ones(0), Token)
    (True, False)
    """


class AbstractToken(AbstractValue):
    """The type of such values, as an abstract value."""

    def str_short(self) -> str:
        """The name that programs are printed with."""
        return "Tok"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbstractToken)

    def __hash__(self) -> int:
        return hash(AbstractToken)


class TraceTag:
    """A mark of the interpreters of one transformation that a package defines."""

    def __repr__(self) -> str:
        return "TraceTag"


class OpaqueTraceState:
    """The interpreter at work when it was asked for; equal while it is the same one."""

    __slots__ = ("_main",)

    def __init__(self, main: MainTrace) -> None:
        self._main = main

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueTraceState) and self._main is other._main

    def __hash__(self) -> int:
        return id(self._main)


def get_opaque_trace_state(convention: str | None = None) -> OpaqueTraceState:
    """The state of tracing, to compare with a later one."""
    return OpaqueTraceState(trace_state.stack[-1])


def take_current_trace() -> Any:
    """Refuse: the interpreter at work cannot be taken away.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        "jax.extend.core.take_current_trace: bindax's interpreters are left by returning. "
        "Evaluate under jax.ensure_compile_time_eval() instead."
    )


@contextmanager
def set_current_trace(trace: Any) -> Iterator[None]:
    """Do nothing inside the block."""
    yield


def primal_dtype_to_tangent_dtype(dtype: Any) -> Any:
    """The dtype of tangents of values of a dtype."""
    from bindax_core.extend import ShapedArray

    return ShapedArray((), dtype).tangent_aval().dtype


def mapped_aval(size: int, axis: int | None, aval: Any) -> Any:
    """The type of one slice along an axis."""
    if axis is None:
        return aval
    return aval.update(shape=(*aval.shape[:axis], *aval.shape[axis + 1 :]))


def unmapped_aval(size: int, axis: int | None, aval: Any, *more: Any) -> Any:
    """The type of several stacked along an axis."""
    if axis is None:
        return aval
    return aval.update(shape=(*aval.shape[:axis], size, *aval.shape[axis:]))


def gensym(suffix: str = "") -> Callable[[Any], Var]:
    """A maker of new variables."""
    return Var


def new_jaxpr_eqn(
    invars: Sequence[Any],
    outvars: Sequence[Var],
    primitive: Any,
    params: dict[str, Any],
    effects: Any = no_effects,
    source_info: Any = None,
    ctx: Any = None,
) -> JaxprEqn:
    """An equation."""
    return JaxprEqn(primitive, list(invars), list(outvars), params, source_info)


def jaxprs_in_params(params: dict[str, Any]) -> Iterator[_Jaxpr]:
    """The programs among an equation's parameters."""
    return iter([program.jaxpr for _, program in _subjaxprs(params)])


def subjaxprs(jaxpr: _Jaxpr) -> Iterator[_Jaxpr]:
    """The programs among the parameters of a program's equations."""
    return iter([inner for eqn in jaxpr.eqns for inner in jaxprs_in_params(eqn.params)])


def concrete_or_error(force: Any, value: Any, context: str = "") -> Any:
    """The value, if it is concrete.

    Raises:
        ConcretizationTypeError: when it is traced.
    """
    if force is None:
        return value
    return force(value)


def unsafe_am_i_under_a_jit_DO_NOT_USE() -> bool:
    """Tell whether something is being staged."""
    return trace_state.dynamic is not None


def unsafe_am_i_under_a_vmap_DO_NOT_USE() -> bool:
    """Tell whether something is being mapped."""
    return any(main.trace_type is BatchTrace for main in trace_state.stack)


def unsafe_get_axis_names_DO_NOT_USE() -> list[Any]:
    """The names of the axes that are mapped over."""
    axes = [main.global_data for main in trace_state.stack if main.trace_type is BatchTrace]
    return [axis.name for axis in axes if axis.name is not None]


def nonempty_axis_env_DO_NOT_USE() -> bool:
    """Tell whether there are such names."""
    return bool(unsafe_get_axis_names_DO_NOT_USE())


array_types: frozenset[type] = frozenset(
    {np.ndarray, ml_dtypes.bfloat16, *(np.dtype(name).type for name in ("bool", *_NUMBERS))}
)
"""The types of NumPy that are operands."""


def create_call_primitive(name: str, inline_jax_late: bool = True) -> Primitive:
    """A primitive that evaluates the program in its parameter ``call_jaxpr``."""
    primitive = Primitive(name)
    register_call_primitive_rules(primitive, name, inline_jax_late=inline_jax_late)
    return primitive


def register_call_primitive_rules(
    prim: Primitive,
    name: str | None = None,
    transpose_rule: Any = None,
    inline_jax_late: bool = True,
) -> None:
    """Give a primitive the rules of calls: what it does is what its ``call_jaxpr`` does."""
    prim.multiple_results = True

    def call(*operands: Any, call_jaxpr: Any, **params: Any) -> list[Any]:
        closed = call_jaxpr if isinstance(call_jaxpr, ClosedJaxpr) else ClosedJaxpr(call_jaxpr)
        return list(jaxpr_as_fun(closed)(*operands))

    prim.def_custom_bind(call)
