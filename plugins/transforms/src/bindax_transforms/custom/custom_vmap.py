"""``custom_vmap``: a function whose vectorization is given by a rule in place of its operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from bindax_core.errors import TreeError
from bindax_core.extend import (
    DebugInfo,
    MainTrace,
    Primitive,
    PyTreeDef,
    api_boundary,
    describe_function,
    float0,
    full_raise,
    tree_unflatten,
    typeof,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import argument_names, merge, partition, split, with_zeros
from bindax_transforms.autodiff.jvp import JVPTracer
from bindax_transforms.batching.mapped_types import BatchDim, mapped_aval
from bindax_transforms.batching.vmap import AxisData, BatchTracer, move_batch_axis, vmap_flat
from bindax_transforms.custom._arguments import (
    CustomFunction,
    FlatCall,
    check_pair,
    match_flags,
)
from bindax_transforms.custom._custom_call import (
    CustomCall,
    FlatFunction,
    apply_call,
    call_primitive,
    resume_trace,
)
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr
from bindax_transforms.zeros import Zero, instantiate_zeros

P = ParamSpec("P")
R = TypeVar("R")


class CustomVmapCall(CustomCall):
    """A call with the rule ``(axis_size, batched, operands) -> (results, batched)``.

    It applies the function to a batch; batch axes are in front.
    """

    def batch(
        self, main: MainTrace, operands: Sequence[Any], dims: Sequence[BatchDim]
    ) -> tuple[Sequence[Any], Sequence[BatchDim]]:
        if all(d is None for d in dims):
            return super().batch(main, operands, dims)
        if any(d is not None for d in dims[: self.num_consts]):
            raise mapped_closure_error(self.name)
        size: int = main.global_data.size
        args = [
            x if d is None else move_batch_axis(size, d, 0, x)
            for x, d in zip(operands, dims, strict=True)
        ]
        count = self.num_consts
        outs, flags = self.rule(size, [d is not None for d in dims[count:]], args[count:])
        if any(isinstance(x, BatchTracer) and x._trace.main is main for x in outs):
            raise mapped_closure_error(self.name)
        return outs, [0 if flag else None for flag in flags]

    def jvp(
        self, main: MainTrace, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        derivative = _Derivative(self, main, tangents)
        given = [t for t in tangents if type(t) is not Zero]
        call = CustomVmapCall(self.name, derivative.function, derivative.rule, self.num_consts)
        outs = apply_call(call, [*primals, *given], main)
        return derivative.split(outs)


def mapped_closure_error(name: str) -> TypeError:
    """The error for a batch that no rule speaks of."""
    return TypeError(
        f"vmap over a value that the {name} closes over: its rule says how it is mapped over its "
        f"arguments only. Pass the value as an argument."
    )


class _Derivative:
    """The derivative of a call, as a function of primals and tangents with a vmap rule again."""

    def __init__(self, call: CustomVmapCall, main: MainTrace, tangents: Sequence[Any]) -> None:
        self.call = call
        self.main = main
        self.nonzeros = [type(t) is not Zero for t in call.split_consts(tangents)]
        self.outs_differentiable: list[bool] = []

    def function(self, *operands: Any) -> list[Any]:
        return self._derived(self.call.function, operands)

    def rule(self, axis_size: int, batched: Sequence[bool], operands: Sequence[Any]) -> Any:
        primal_flags, rest = split(batched, len(self.nonzeros))
        fixed, moving = partition(self.nonzeros, primal_flags)
        if not any(fixed) and not any(p and t for p, t in zip(moving, rest, strict=True)):
            found = self._of_one(axis_size, batched, operands)
            if found is not None:
                return found
        tangent_flags = merge(self.nonzeros, [False] * len(fixed), rest)
        flags = [p or t for p, t in zip(primal_flags, tangent_flags, strict=True)]
        wanted = [*flags, *partition(self.nonzeros, flags)[1]]
        full = [
            move_batch_axis(axis_size, None, 0, x) if want and not have else x
            for x, have, want in zip(operands, batched, wanted, strict=True)
        ]
        results, out_flags = self._by_rule(axis_size, flags, full)
        return results, [*out_flags, *partition(self.outs_differentiable, out_flags)[1]]

    def _of_one(self, axis_size: int, batched: Sequence[bool], operands: Sequence[Any]) -> Any:
        """The derivative where only primals, or only tangents, of each argument are a batch.

        To the rule nothing is batched, as in JAX: what does not depend on that batch has none.
        None where the rule gives batches all the same.
        """
        flags: list[bool] = []

        def of_one(*operands: Any) -> list[Any]:
            none = [False] * len(self.nonzeros)
            results, flags[:] = self._by_rule(axis_size, none, operands)
            return results

        dims = [0 if flag else None for flag in batched]
        axis, origin = AxisData(axis_size), DebugInfo("custom_vmap")
        outs, out_dims = vmap_flat(of_one, axis, operands, dims, origin)
        if any(flags):
            return None
        moved = [
            x if d is None else move_batch_axis(axis_size, d, 0, x)
            for x, d in zip(outs, out_dims, strict=True)
        ]
        return moved, [d is not None for d in out_dims]

    def _by_rule(
        self, axis_size: int, flags: Any, operands: Sequence[Any]
    ) -> tuple[list[Any], list[bool]]:
        """The derivative of the rule, and which results are batched."""
        out_flags: list[bool] = []

        def mapped(*operands: Any) -> Any:
            outs, out_flags[:] = self.call.rule(axis_size, flags, operands)
            return outs

        return self._derived(mapped, operands), out_flags

    def _derived(self, function: FlatFunction, operands: Sequence[Any]) -> list[Any]:
        """Results and tangents of a function, from its operands and those tangents there are."""
        primals, tangents = split(operands, len(operands) - sum(self.nonzeros))
        consts, arguments = split(primals, len(primals) - len(self.nonzeros))
        fixed, differentiated = partition(self.nonzeros, arguments)
        with resume_trace(self.main) as trace:
            pairs = zip(differentiated, tangents, strict=True)
            boxed = merge(self.nonzeros, fixed, [JVPTracer(trace, x, t) for x, t in pairs])
            outs = [full_raise(trace, x) for x in function(*consts, *boxed)]
        avals = [typeof(t.value).tangent_aval() for t in outs]
        self.outs_differentiable = [aval.dtype != float0 for aval in avals]
        found = [instantiate_zeros(t.tangent) for t in partition(self.outs_differentiable, outs)[1]]
        return [*(t.value for t in outs), *found]

    def split(self, outs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Results and tangents, from the results of the derivative."""
        primals, rest = split(outs, len(self.outs_differentiable))
        avals = [typeof(x) for x in primals]
        return primals, with_zeros(self.outs_differentiable, rest, avals)


custom_vmap_call_p: Primitive = call_primitive("custom_vmap_call", CustomVmapCall)
"""A call of a ``custom_vmap`` function. Parameters: ``call``, with the rule; ``jaxpr``, the
function as a jaxpr without constants."""


class custom_vmap(CustomFunction[P, R]):
    """A function that ``vmap`` maps by a rule of its own.

    Differentiation and staging work as for any function: the derivative of the function is mapped
    by the derivative of the rule. Where reverse-mode differentiation takes place inside ``vmap``,
    as in ``vmap(grad(f))``, the linear part is mapped operation by operation instead.

    Args:
        fun: a function of arrays and trees of arrays.

    >>> import numpy as np
    >>> from bindax_transforms import custom_vmap, vmap
    >>> @custom_vmap
    ... def f(x):
    ...     return x * x
    >>> @f.def_vmap
    ... def f_rule(axis_size, in_batched, x):
    ...     return 10.0 * x, in_batched[0]
    >>> float(f(2.0)), vmap(f)(np.array([1.0, 2.0]))
    (4.0, Array([10., 20.], dtype=float64))
    """

    _decorator = "custom_vmap"

    vmap_rule: Callable[..., tuple[Any, Any]] | None = None
    _last_structures: tuple[PyTreeDef, list[Any], PyTreeDef] | None = None
    """The structure and types of arguments, and the structure of the function's output for them."""

    @api_boundary
    def __init__(self, fun: Callable[P, R]) -> None:
        super().__init__(fun)

    @api_boundary
    def def_vmap(self, vmap_rule: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
        """Set the rule; usable as a decorator.

        Args:
            vmap_rule: ``(axis_size, in_batched, *args) -> (out, out_batched)``. ``in_batched`` is a
                list with a tree of booleans for each argument: whether a leaf has a batch axis,
                which is then its first. ``out_batched`` says the same of ``out``; a boolean may
                stand for a whole subtree.

        Returns:
            ``vmap_rule``.
        """
        check_function(f"def_vmap of the {self._arguments.name}", "vmap_rule", vmap_rule)
        self.vmap_rule = vmap_rule
        return vmap_rule

    @api_boundary
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.vmap_rule is None:
            raise AttributeError(
                f"the {self._arguments.name} has no vmap rule; define one with def_vmap before "
                f"calling it."
            )
        call, operands = FlatCall.of(self._arguments, args, kwargs)
        rule = partial(self._apply_rule, call, self.vmap_rule)
        outs = apply_call(CustomVmapCall(call.name, call.function, rule), operands)
        return tree_unflatten(call.tree, outs)  # type: ignore[no-any-return]

    def _apply_rule(
        self,
        call: FlatCall,
        vmap_rule: Callable[..., tuple[Any, Any]],
        axis_size: int,
        batched: Sequence[bool],
        operands: Sequence[Any],
    ) -> tuple[list[Any], list[bool]]:
        name = f"vmap rule {describe_function(vmap_rule)} of the {call.name}"
        in_batched = list(tree_unflatten(call.in_tree, batched))
        pair = vmap_rule(axis_size, in_batched, *tree_unflatten(call.in_tree, operands))
        check_pair(pair, name, "(out, out_batched)")
        outs = call.of_rule(pair[0], name, batched=True)
        if call.avals is None and not self._is_known(call, batched, operands):
            outs = call.of_rule(pair[0], name, batched=True)  # checked against the function's
        flags = match_flags(pair[1], call.tree, name)
        for i, (x, flag) in enumerate(zip(outs, flags, strict=True)):
            shape = typeof(x).shape
            if flag and (not shape or shape[0] != axis_size):
                raise ValueError(
                    f"the {name} says that {argument_names(pair[0], 'output')[i]} is batched, but "
                    f"its type {typeof(x).str_short()} has no first axis of size {axis_size}."
                )
        return outs, flags

    def _is_known(self, call: FlatCall, batched: Sequence[bool], operands: Sequence[Any]) -> bool:
        """Tell whether the rule returned the structure that the function had for such operands.

        Where it did not, or none is known, the function is traced, for one element.
        """
        pairs = zip(batched, operands, strict=True)
        avals = [mapped_aval(0 if flag else None, typeof(x)) for flag, x in pairs]
        with suppress(TreeError):  # metadata of a container that cannot be compared
            if self._last_structures == (call.in_tree, avals, call.tree):
                return True
        trace_to_jaxpr(call.function, avals, DebugInfo("custom_vmap", self.fun))
        self._last_structures = (call.in_tree, avals, call.tree)
        return False
