"""``sparsify``: functions written for arrays, applied to sparse ones.

It is an interpreter whose values may be sparse, and a table of rules that say which operations
leave them so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import bindax_lax_basic as lax
from bindax_core import find_primitive
from bindax_core.errors import MissingRuleError
from bindax_core.extend import (
    DebugInfo,
    Extension,
    Primitive,
    RuleKind,
    Trace,
    ValueTracer,
    api_boundary,
    bind_flat,
    call_rule,
    extend,
    full_raise,
    is_value,
    jaxpr_as_fun,
    new_main,
    tree_flatten,
    tree_unflatten,
    wraps,
)
from bindax_experimental.sparse import arithmetic, layout, structure
from bindax_experimental.sparse.bcoo import BCOO
from bindax_transforms import (
    check_function,
    custom_jvp_call_p,
    custom_vjp_call_p,
    custom_vmap_call_p,
    flatten_function,
    jit_p,
)


def _adapt(primitive: Primitive, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    def rule(operands: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        return call_rule(primitive, "sparse", function, operands, params, _is_sparse_or_not)

    return rule


def _is_sparse_or_not(x: Any) -> bool:
    return isinstance(x, BCOO) or is_value(x)


sparse: RuleKind = RuleKind(
    "sparse", adapt=_adapt, signature="(*arrays_or_BCOO, **params) -> array or BCOO"
)
"""The result of a primitive of which at least one operand is sparse."""


class SparseTracer(ValueTracer):
    """A value that may be sparse."""

    __slots__ = ()

    @property
    def is_plain(self) -> bool:
        """Tell whether the value is not sparse."""
        return not isinstance(self.value, BCOO)

    @property
    def aval(self) -> Any:
        """The type of the array, sparse or not."""
        return super().aval if self.is_plain else self.value.aval

    def concrete(self) -> Any:
        """The value, if it is not sparse."""
        return super().concrete() if self.is_plain else None


class SparseTrace(Trace):
    """Applies ``sparse`` rules."""

    __slots__ = ()

    def pure(self, value: Any) -> SparseTracer:
        """Box a value that is not sparse."""
        return SparseTracer(self, value)

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[SparseTracer], params: dict[str, Any]
    ) -> list[Any]:
        """Apply the rule of a primitive, if anything is sparse."""
        operands = [tracer.value for tracer in tracers]
        if any(isinstance(x, BCOO) for x in operands):
            outs = self._rule(primitive)(operands, params)
        else:
            outs = bind_flat(primitive, operands, params)
        return [SparseTracer(self, x) for x in outs]

    def _rule(self, primitive: Primitive) -> Callable[..., Any]:
        try:
            return sparse.get(primitive)
        except MissingRuleError as error:
            error.add_note("its result may have no zeros to leave out; todense gives all elements.")
            raise


def _run(function: Callable[..., Any], operands: Sequence[Any], origin: DebugInfo) -> list[Any]:
    with new_main(SparseTrace, origin=origin) as main:
        trace = main.trace
        boxed = [SparseTracer(trace, x) if isinstance(x, BCOO) else x for x in operands]
        return [full_raise(trace, x).value if is_value(x) else x for x in function(*boxed)]


@api_boundary
def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """A function of arrays that takes and returns sparse ones, too.

    Operations whose results have as many zeros as their sparse operands give sparse arrays.

    Args:
        f: a function of arrays and trees of arrays.
        use_tracer: accepted for programs written for JAX; it changes nothing.

    Raises:
        MissingRuleError: at a call, when an operation on a sparse array has no rule.

    >>> import bindax_numpy as jnp
    >>> from bindax_experimental.sparse import eye
    >>> sparsify(lambda m: jnp.sin(m) @ m.T)(eye(3))
    BCOO(float32[3, 3], nse=9)
    """
    check_function("sparsify", "f", f)

    @wraps(f)
    @api_boundary
    def of_sparse(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = tree_flatten((args, kwargs), is_leaf=lambda x: isinstance(x, BCOO))
        flat, out_tree = flatten_function(f, tree)
        outs = _run(flat, leaves, DebugInfo("sparsify", f))
        return tree_unflatten(out_tree(), outs)

    return of_sparse


# ------------------------------------------------------------------------------------- rules

ZERO_AT_ZERO = """
abs asin asinh atan atanh cbrt ceil erf erf_inv expm1 floor integer_pow log1p round sign sin sinh
sqrt square tan tanh
"""
"""Functions of one operand with zeros at zero, not linear: positions must be distinct."""

LINEAR = "conj convert_element_type copy imag neg real"
"""Linear functions of one operand."""


def extensions() -> Iterator[Extension]:
    """The rules of this package, each for a primitive of another."""
    for name in ZERO_AT_ZERO.split():
        yield _extended(name, _on_distinct_entries)
    for name in LINEAR.split():
        yield _extended(name, _on_entries)
    rules: dict[str, Callable[..., Any]] = {
        "add": lambda p, x, y: arithmetic.add(x, y),
        "broadcast_in_dim": lambda p, x, **k: structure.bcoo_broadcast_in_dim(x, **k),
        "concatenate": lambda p, *xs, dimension: _concatenated(xs, dimension),
        "div": lambda p, x, y: _divided(x, y),
        "dot_general": lambda p, x, y, **params: _product(x, y, **params),
        "dynamic_slice": _dynamic_slice,
        "mul": lambda p, x, y: arithmetic.multiply(x, y),
        "reduce_sum": lambda p, x, axes: structure.bcoo_reduce_sum(x, axes=axes),
        "reshape": lambda p, x, new_sizes, **k: structure.bcoo_reshape(x, new_sizes=new_sizes),
        "rev": lambda p, x, dimensions: structure.bcoo_rev(x, dimensions),
        "slice": lambda p, x, **k: structure.bcoo_slice(x, **k),
        "squeeze": lambda p, x, dimensions: structure.bcoo_squeeze(x, dimensions=dimensions),
        "sub": lambda p, x, y: arithmetic.add(x, -y if isinstance(y, BCOO) else lax.neg(y)),
        "transpose": lambda p, x, **k: structure.bcoo_transpose(x, **k),
    }
    for name, rule in rules.items():
        yield _extended(name, rule)
    yield extend(jit_p, sparse(_jit))
    for primitive in (custom_jvp_call_p, custom_vjp_call_p, custom_vmap_call_p):
        yield extend(primitive, sparse(_call))


def _extended(name: str, rule: Callable[..., Any]) -> Extension:
    """The rule for a primitive of that name, which is given the primitive first."""
    primitive = find_primitive(name)
    return extend(
        primitive, sparse(lambda *operands, **params: rule(primitive, *operands, **params))
    )


def _on_entries(primitive: Primitive, x: BCOO, **params: Any) -> BCOO:
    return x.replaced(primitive.bind(x.data, **params))


def _on_distinct_entries(primitive: Primitive, x: BCOO, **params: Any) -> BCOO:
    if params.get("y", 1) <= 0:
        raise ValueError(f"a sparse array has positive whole powers, not {params['y']}.")
    return _on_entries(primitive, layout.distinct(x), **params)


def _divided(x: Any, y: Any) -> BCOO:
    if isinstance(y, BCOO):
        raise TypeError("division by a sparse array divides by zeros; use sparse.todense(y).")
    return arithmetic.divide(x, y)


def _dynamic_slice(primitive: Primitive, x: BCOO, *starts: Any, slice_sizes: Any) -> BCOO:
    return structure.bcoo_dynamic_slice(x, starts, slice_sizes)


def _product(x: Any, y: Any, **params: Any) -> Any:
    return arithmetic.bcoo_dot_general(
        x,
        y,
        dimension_numbers=params["dimension_numbers"],
        preferred_element_type=params.get("preferred_element_type"),
    )


def _concatenated(operands: Sequence[Any], dimension: int) -> BCOO:
    mats = [x if isinstance(x, BCOO) else BCOO.fromdense(x, nse=x.size) for x in operands]
    return structure.bcoo_concatenate(mats, dimension=dimension)


def _jit(*operands: Any, jaxpr: Any, **params: Any) -> list[Any]:
    return _run(jaxpr_as_fun(jaxpr), operands, DebugInfo("sparsify"))


def _call(*operands: Any, call: Any, jaxpr: Any) -> list[Any]:
    return _run(call.function, operands, DebugInfo("sparsify"))
