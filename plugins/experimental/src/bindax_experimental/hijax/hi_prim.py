"""``HiPrim``: a primitive as a class; and the class of an operation on batches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import (
    Effect,
    Primitive,
    PyTreeDef,
    instantiate_zeros,
    is_differentiable,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_unflatten,
)
from bindax_core.tree_util import register_static
from bindax_experimental.hijax.batches import unmapped
from bindax_experimental.hijax.definition import (
    adopted,
    cotangents_of,
    declare,
    expanded,
    forward_rule,
    run_forward,
    transpose_rule,
)
from bindax_transforms import partition, vmap, with_zeros
from bindax_transforms.extend import GradAccum
from bindax_transforms.zeros import UndefPrimal, Zero

_RULES = ("jvp", "lin", "vjp_fwd", "vjp_bwd", "transpose", "dce")


class HiPrim:
    """A primitive as a class: one object is the operation with its parameters and types.

    ``__init__`` of a subclass sets the three attributes below and calls that of the base. The
    object is then called like a function. It is one operation to every transformation, which asks
    the methods below; ``jit``, and evaluation, run ``expand``.

    Methods of subclasses, all but the first optional:

    - ``expand(*args)``: the operation, by others.
    - ``vjp_fwd(nzs_in, *args)``: for reverse mode, the result and residuals, any pytree.
      ``nzs_in`` tells which leaves of the arguments are differentiated. A third part of the
      result tells which leaves of the result are; a fourth holds further residuals.
    - ``vjp_bwd_retval(res, ct)``: the cotangents of the arguments, a tuple of them.
    - ``vjp_bwd(res, ct, *accums)``: the same by ``accum`` of an accumulator for each leaf; it
      gets the fourth part of what ``vjp_fwd`` returned after ``res``, if there is one. What it
      returns, a dict or None, is logged, for ``with_logs`` of what ``vjp`` returns.
    - ``jvp(primals, tangents)``: for forward mode, the result and its tangent. Tangents may be
      symbolic zeros, ``Zero``.
    - ``lin(nzs_in, *args)`` and ``linearized(res, *tangents)``: the same in two steps, the result
      with residuals and the linear map. They serve where ``jvp`` is not defined.
    - ``transpose(ct, *args)``, of an operation that is linear in some arguments; there, ``args``
      has accumulators.
    - ``batch(axis_data, args, dims)``: under ``vmap``, the result with batch axes and where its
      leaves have them. ``batch_dim_rule(axis_data, dims)`` tells only where; without either,
      ``expand`` and the rules are mapped, and results have the axis in front.
    - ``dce(used_outs, live_ins)``: which arguments are needed for some of the results, which
      results are computed then, and the object that does it.
    - ``check(*in_avals)``: raises where the types of the arguments are wrong.

    Attributes:
        in_avals: the types of the arguments, a pytree for each.
        out_aval: the types of the result, a pytree.
        params: hashable parameters, which become attributes. Objects of a class are the same
            operation where these are equal.
        effects: the effects of the operation.

    Raises:
        AttributeError: when ``__init__`` of the subclass leaves an attribute out.
        TypeError: when a result or an argument is not of the type that was declared.
    """

    in_avals: tuple[Any, ...]
    out_aval: Any
    params: dict[str, Hashable]
    effects: frozenset[Effect] = frozenset()

    def __init__(self) -> None:
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise AttributeError(
                    f"{type(self).__name__}.__init__ must set self.{name} before it calls "
                    f"super().__init__()."
                )
        self.in_avals_flat, self.in_tree = tree_flatten(tuple(self.in_avals))
        self.out_avals_flat, self.out_tree = tree_flatten(self.out_aval)
        vars(self).update(self.params)
        self._defined = self._methods()
        self._primitive: Primitive = declare(type(self).__name__, self._defined)
        self.check(*self.in_avals)

    def _methods(self) -> frozenset[str]:
        """The optional methods that have a meaning for this object."""
        kind = type(self)
        return frozenset(x for x in _RULES if getattr(kind, x) is not getattr(HiPrim, x))

    def __call__(self, *args: Any) -> Any:
        """Apply the operation; a Python number takes the dtype that is declared for it."""
        operands, tree = tree_flatten(args)
        if tree != self.in_tree:
            raise TypeError(
                f"{self!r} takes arguments of the structure {self.in_tree}, which in_avals has, "
                f"but it is given {tree}."
            )
        typed = map(adopted, operands, self.in_avals_flat)
        outs = self._primitive.bind(*typed, prim=self)
        return tree_unflatten(self.out_tree, outs)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.pp_params().items())
        return f"{type(self).__name__}[{shown}]"

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.params.items()), self.effects))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, HiPrim)
            and type(self) is type(other)
            and (self.params, self.effects) == (other.params, other.effects)
            and (self.in_avals_flat, self.in_tree) == (other.in_avals_flat, other.in_tree)
        )

    def pp_params(self) -> dict[str, Any]:
        """The parameters that a printed jaxpr shows."""
        return {name: value for name, value in self.params.items() if not name.startswith("_")}

    def check(self, *in_avals: Any) -> None:
        """Raise when the types of the arguments are wrong; by default none are."""

    def expand(self, *args: Any) -> Any:
        """The operation, by others."""
        raise self._missing("expand", "evaluation")

    def jvp(self, primals: Any, tangents: Any) -> tuple[Any, Any]:
        """The result and its tangent."""
        raise self._missing("jvp", "forward mode")

    def lin(self, nzs_in: Any, *primals: Any) -> tuple[Any, ...]:
        """The result, and residuals for ``linearized``."""
        raise self._missing("lin", "linearize")

    def linearized(self, residuals: Any, *tangents: Any) -> Any:
        """The tangent of the result."""
        raise self._missing("linearized", "linearize")

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> tuple[Any, ...]:
        """The result, and residuals for the backward rule."""
        raise self._missing("vjp_fwd", "reverse mode")

    def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Any:
        """The cotangents of the arguments."""
        raise self._missing("vjp_bwd_retval or vjp_bwd", "reverse mode")

    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> Any:
        """Add the cotangents of the arguments to accumulators."""
        flat = self.in_tree.flatten_up_to(tuple(self.vjp_bwd_retval(res, outgrad)))
        for accumulator, ct in zip(self.in_tree.flatten_up_to(arg_accums), flat, strict=True):
            accumulator.accum(ct)

    def transpose(self, out_ct: Any, *maybe_accums: Any) -> Any:
        """Add the cotangents of the arguments that it is linear in to accumulators."""
        raise self._missing("transpose", "transposition")

    def batch(self, axis_data: Any, args: Any, dims: Any) -> tuple[Any, Any]:
        """The results of a batch, and where they have the batch axis."""
        out_dims = tree_map(lambda _: 0, self.out_aval)
        if type(self).batch_dim_rule is not HiPrim.batch_dim_rule:
            out_dims = self.batch_dim_rule(axis_data, dims)
        # Results without an axis get one: the cotangents of elements are added up.
        outs = tuple(d or 0 for d in self.out_tree.flatten_up_to(out_dims))
        ins = tuple(self.in_tree.flatten_up_to(dims))
        mapped = Batched(self, axis_data.size, ins, outs)
        return mapped(*args), tree_unflatten(self.out_tree, outs)

    def batch_dim_rule(self, axis_data: Any, dims: Any, /) -> Any:
        """Where the results of a batch have the batch axis."""
        raise self._missing("batch_dim_rule", "vmap")

    def dce(self, used_outs: Any, live_ins: Any = None) -> tuple[Any, Any, Any]:
        """Tell what is needed for some of the results."""
        return True, True, self

    def _used_for(self, used_outs: Any) -> tuple[Any, Any, Any]:
        return self.dce(used_outs, tree_map(lambda _: True, self.in_avals))

    def _missing(self, method: str, purpose: str) -> NotImplementedError:
        return NotImplementedError(
            f"{purpose} needs the method {method}, which {type(self).__name__} does not define."
        )


class VJPHiPrimitive(HiPrim):
    """The same as ``HiPrim``, in the form that JAX had up to 0.11.

    ``dce`` takes ``used_outs`` alone, and of ``vjp_bwd`` and ``vjp_bwd_retval`` a class has one.
    """

    def __init__(self) -> None:
        kind = type(self)
        if kind.vjp_bwd is not HiPrim.vjp_bwd and kind.vjp_bwd_retval is not HiPrim.vjp_bwd_retval:
            raise AttributeError(
                f"{kind.__name__} defines both vjp_bwd and vjp_bwd_retval; leave one out."
            )
        super().__init__()

    def _used_for(self, used_outs: Any) -> tuple[Any, Any, Any]:
        return self.dce(used_outs)


@register_static
@dataclass(frozen=True)
class _Structure:
    """The structure of residuals, and the operands that they are for."""

    tree: PyTreeDef
    perturbed: tuple[bool, ...]


class Batched(HiPrim):
    """The operation of ``prim`` on each element of a batch.

    Results have the batch axis at ``out_dims``; an operand has none where ``in_dims`` has None.
    """

    prim: HiPrim
    size: int
    in_dims: tuple[int | None, ...]
    out_dims: tuple[int, ...]

    def __init__(
        self, prim: HiPrim, size: int, in_dims: tuple[int | None, ...], out_dims: tuple[int, ...]
    ) -> None:
        ins = zip(prim.in_avals_flat, in_dims, strict=True)
        outs = zip(prim.out_avals_flat, out_dims, strict=True)
        self.in_avals = tree_unflatten(prim.in_tree, [unmapped(size, a, d) for a, d in ins])
        self.out_aval = tree_unflatten(prim.out_tree, [unmapped(size, a, d) for a, d in outs])
        self.effects = prim.effects
        self.params = {"prim": prim, "size": size, "in_dims": in_dims, "out_dims": out_dims}
        super().__init__()

    def _methods(self) -> frozenset[str]:
        prim: Any = self.params["prim"]
        forward = {"jvp"} if prim._defined & {"jvp", "lin"} else set()
        return frozenset(forward | (prim._defined & {"vjp_fwd", "transpose"}))

    def _map(self, function: Callable[..., Any], dims: Any, out_dims: Any, values: Any) -> Any:
        mapped = vmap(function, in_axes=(tuple(dims),), out_axes=out_dims, axis_size=self.size)
        return mapped(tuple(values))

    def _leaf_sums(self, flags: Sequence[bool], cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of operands; those of one that has no axis are added up."""
        dims = [d for d, flag in zip(self.in_dims, flags, strict=True) if flag]
        return [
            jnp.sum(ct, axis=0) if d is None else ct for ct, d in zip(cotangents, dims, strict=True)
        ]

    def _axes_of(self, flags: Sequence[bool]) -> tuple[int, ...]:
        """Where the cotangents of operands have the axis, before those without are added up."""
        return tuple(d or 0 for d, flag in zip(self.in_dims, flags, strict=True) if flag)

    def expand(self, *args: Any) -> Any:
        """The operation on each element."""
        outs = self._map(
            lambda xs: tuple(expanded(self.prim, *xs)),
            self.in_dims,
            self.out_dims,
            tree_leaves(args),
        )
        return tree_unflatten(self.out_tree, outs)

    def jvp(self, primals: Any, tangents: Any) -> tuple[Any, Any]:
        """The results, and their tangents, by the forward rule on each element."""
        prim, count = self.prim, len(self.in_dims)
        given = self.in_tree.flatten_up_to(tangents)
        nonzeros = [type(t) is not Zero for t in given]
        out_flags = [is_differentiable(aval.dtype) for aval in prim.out_avals_flat]

        def element(values: Any) -> Any:
            full = with_zeros(nonzeros, values[count:], prim.in_avals_flat)
            outs, found = forward_rule(values[:count], full, prim=prim)
            return tuple(outs), tuple(instantiate_zeros(t) for t in partition(out_flags, found)[1])

        outs, found = self._map(
            element,
            [*self.in_dims, *partition(nonzeros, self.in_dims)[1]],
            (self.out_dims, tuple(partition(out_flags, self.out_dims)[1])),
            [*tree_leaves(primals), *partition(nonzeros, given)[1]],
        )
        out_tangents = with_zeros(out_flags, found, self.out_avals_flat)
        return tree_unflatten(self.out_tree, outs), tree_unflatten(self.out_tree, out_tangents)

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> tuple[Any, ...]:
        """The results, and the residuals of each element, with the axis in front."""
        perturbed = tuple(self.in_tree.flatten_up_to(nzs_in))
        noted: list[tuple[PyTreeDef, list[bool]]] = []

        def element(values: Any) -> Any:
            outs, kept, nonzeros_out = run_forward(self.prim, values, perturbed)
            leaves, tree = tree_flatten(kept)
            noted.append((tree, nonzeros_out))
            return tuple(outs), tuple(leaves)

        outs, leaves = self._map(element, self.in_dims, (self.out_dims, 0), tree_leaves(args))
        tree, nonzeros_out = noted[-1]
        flags = tree_unflatten(self.out_tree, nonzeros_out)
        out = tree_unflatten(self.out_tree, outs)
        return out, (leaves, _Structure(tree, perturbed)), flags

    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> dict[Any, Any]:
        """Add the cotangents that the backward rule gives for each element; gives its logs."""
        leaves, structure = res
        prim, perturbed = self.prim, structure.perturbed
        given = self.out_tree.flatten_up_to(outgrad)
        nonzeros = [type(ct) is not Zero for ct in given]
        types = partition(perturbed, prim.in_avals_flat)[1]

        def element(values: Any) -> Any:
            kept = tree_unflatten(structure.tree, values[: len(leaves)])
            cts = with_zeros(nonzeros, values[len(leaves) :], prim.out_avals_flat)
            all_cts, logs = cotangents_of(prim, kept, cts, perturbed)
            pairs = zip(partition(perturbed, all_cts)[1], types, strict=True)
            return tuple(_instantiated(ct, aval) for ct, aval in pairs), logs

        found, logs = self._map(
            element,
            [*[0] * len(leaves), *partition(nonzeros, self.out_dims)[1]],
            (self._axes_of(perturbed), 0),
            [*leaves, *partition(nonzeros, given)[1]],
        )
        accums = partition(perturbed, self.in_tree.flatten_up_to(arg_accums))[1]
        for accumulator, ct in zip(accums, self._leaf_sums(perturbed, found), strict=True):
            accumulator.accum(ct)
        return logs  # type: ignore[no-any-return]

    def transpose(self, out_ct: Any, *maybe_accums: Any) -> None:
        """Add the cotangents that the transpose gives for each element."""
        prim = self.prim
        operands = self.in_tree.flatten_up_to(maybe_accums)
        linear = [isinstance(x, GradAccum) for x in operands]
        known = [not flag for flag in linear]
        count = sum(known)
        given = self.out_tree.flatten_up_to(out_ct)
        nonzeros = [type(ct) is not Zero for ct in given]
        types = partition(linear, prim.in_avals_flat)[1]

        def element(values: Any) -> Any:
            held = iter(values[:count])
            pairs = zip(linear, prim.in_avals_flat, strict=True)
            full = [UndefPrimal(aval) if flag else next(held) for flag, aval in pairs]
            cts = with_zeros(nonzeros, values[count:], prim.out_avals_flat)
            found = partition(linear, transpose_rule(cts, *full, prim=prim))[1]
            return tuple(_instantiated(ct, aval) for ct, aval in zip(found, types, strict=True))

        found = self._map(
            element,
            [*partition(known, self.in_dims)[1], *partition(nonzeros, self.out_dims)[1]],
            self._axes_of(linear),
            [*partition(known, operands)[1], *partition(nonzeros, given)[1]],
        )
        sums = self._leaf_sums(linear, found)
        for accumulator, ct in zip(partition(linear, operands)[1], sums, strict=True):
            accumulator.accum(ct)


def _instantiated(ct: Any, aval: Any) -> Any:
    """A cotangent; zeros for None."""
    return instantiate_zeros(Zero(aval.tangent_aval()) if ct is None else ct)
