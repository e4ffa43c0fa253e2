"""Jacobians and Hessians of user functions by argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, overload

import numpy as np

from bindax_core.extend import (
    Array,
    ShapedArray,
    api_boundary,
    float0,
    tree_flatten,
    tree_map,
    tree_unflatten,
    typeof,
    wraps,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import argument_names
from bindax_transforms.autodiff.gradient import Argnums, differentiated
from bindax_transforms.autodiff.jvp import jvp
from bindax_transforms.autodiff.linearize import vjp
from bindax_transforms.batching.vmap import vmap

P = ParamSpec("P")
Aux = TypeVar("Aux")


def _standard_basis(tree: Any) -> list[Any]:
    """For each leaf, the unit tangents of the whole tree, stacked along a new first axis."""
    avals = [typeof(x) for x in tree]
    sizes = [aval.size for aval in avals]
    total, start, basis = sum(sizes), 0, []
    for aval, size in zip(avals, sizes, strict=True):
        block = np.zeros((total, size), aval.dtype)
        block[start : start + size] = np.eye(size, dtype=aval.dtype)
        block = block.reshape(total, *aval.shape)
        weak = ShapedArray(block.shape, block.dtype, True) if aval.weak_type else None
        basis.append(Array.from_numpy(block, weak))
        start += size
    return basis


@overload
def jacfwd(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Callable[P, Any]: ...
@overload
def jacfwd(
    fun: Callable[P, tuple[Any, Aux]],
    argnums: Argnums = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
) -> Callable[P, tuple[Any, Aux]]: ...
@overload
def jacfwd(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Any: ...
@api_boundary
def jacfwd(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """A function that gives the Jacobian of ``fun``, column by column in forward mode.

    Args:
        fun: a function of arrays and trees of arrays.
        argnums: the position of the argument to differentiate with respect to, or several.
        has_aux: whether ``fun`` returns a pair whose second part is passed through.
        holomorphic: whether ``fun`` is a holomorphic function of complex arguments.

    Returns:
        A function that returns, in the structure of the output, trees of the structure of the
        argument, each leaf of shape ``(*output shape, *argument shape)``.

    >>> import numpy as np
    >>> from bindax_transforms import jacfwd
    >>> jacfwd(lambda x: x * x)(np.arange(3.0))
    Array([[0., 0., 0.],
           [0., 2., 0.],
           [0., 0., 4.]], dtype=float64)
    """
    check_function("jacfwd", "fun", fun)

    @wraps(fun)
    @api_boundary
    def jacobian_forward(*args: Any, **kwargs: Any) -> Any:
        dynamic, leaves, in_tree, partial = differentiated(
            "jacfwd", fun, argnums, args, kwargs, holomorphic
        )
        basis = _standard_basis(leaves)

        def pushforward(*tangents: Any) -> Any:
            return jvp(partial, dynamic, tree_unflatten(in_tree, tangents)[0], has_aux=has_aux)

        axes = (None, -1, None) if has_aux else (None, -1)
        out, tangents_out, *aux = vmap(pushforward, out_axes=axes)(*basis)

        def columns(x: Any, tangent: Any) -> Any:
            result, _ = tree_unflatten(in_tree, _cut(tangent, leaves, axis=-1))
            return result[0] if isinstance(argnums, int) else result

        jacobian = tree_map(columns, out, tangents_out)
        return (jacobian, aux[0]) if has_aux else jacobian

    return jacobian_forward


def _cut(stacked: Any, leaves: Sequence[Any], axis: int) -> list[Any]:
    """Cut the basis axis of a Jacobian into one block for each leaf, in the leaf's shape."""
    blocks, start = [], 0
    rest = stacked.shape[:-1] if axis == -1 else stacked.shape[1:]
    for x in leaves:
        aval = typeof(x)
        window = slice(start, start + aval.size)
        block = stacked[..., window] if axis == -1 else stacked[window]
        shape = (*rest, *aval.shape) if axis == -1 else (*aval.shape, *rest)
        blocks.append(block.reshape(shape))
        start += aval.size
    return blocks


@overload
def jacrev(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]: ...
@overload
def jacrev(
    fun: Callable[P, tuple[Any, Aux]],
    argnums: Argnums = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[Any, Aux]]: ...
@overload
def jacrev(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Any: ...
@api_boundary
def jacrev(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that gives the Jacobian of ``fun``, row by row in reverse mode.

    Args:
        fun: a function of arrays and trees of arrays.
        argnums: the position of the argument to differentiate with respect to, or several.
        has_aux: whether ``fun`` returns a pair whose second part is passed through.
        holomorphic: whether ``fun`` is a holomorphic function of complex arguments.
        allow_int: whether integers among the arguments get ``float0`` zeros instead of an error.

    Returns:
        A function that returns, in the structure of the output, trees of the structure of the
        argument, each leaf of shape ``(*output shape, *argument shape)``.

    >>> import numpy as np
    >>> from bindax_transforms import jacrev
    >>> jacrev(lambda x: x * x)(np.arange(2.0))
    Array([[0., 0.],
           [0., 2.]], dtype=float64)
    """
    check_function("jacrev", "fun", fun)

    @wraps(fun)
    @api_boundary
    def jacobian_reverse(*args: Any, **kwargs: Any) -> Any:
        dynamic, _, _, partial = differentiated(
            "jacrev", fun, argnums, args, kwargs, holomorphic, allow_int
        )
        out, pullback, *aux = vjp(partial, *dynamic, has_aux=has_aux)
        out_leaves, out_tree = tree_flatten(out)
        _check_rows(out, out_leaves, holomorphic)
        basis = _standard_basis(out_leaves)

        def pull(*cotangents: Any) -> Any:
            return pullback(tree_unflatten(out_tree, cotangents))

        rows = vmap(pull)(*basis)
        rows = rows[0] if isinstance(argnums, int) else rows
        row_leaves, row_tree = tree_flatten(rows)
        blocks = [_cut(x, out_leaves, axis=0) for x in row_leaves]
        jacobian = tree_unflatten(
            out_tree,
            [tree_unflatten(row_tree, [b[i] for b in blocks]) for i in range(len(out_leaves))],
        )
        return (jacobian, aux[0]) if has_aux else jacobian

    return jacobian_reverse


def _check_rows(out: Any, out_leaves: Sequence[Any], holomorphic: bool) -> None:
    wanted = "complex outputs with holomorphic=True" if holomorphic else "outputs of a float dtype"
    for i, x in enumerate(out_leaves):
        aval = typeof(x)
        is_complex = bool(np.issubdtype(aval.dtype, np.complexfloating))
        if aval.tangent_aval().dtype == float0 or is_complex != holomorphic:
            hint = " For holomorphic functions pass holomorphic=True." if is_complex else ""
            raise TypeError(
                f"jacrev needs {wanted}, but {argument_names(out, 'the output')[i]} is "
                f"{aval.str_short()}. Return its real part or a float in its place.{hint}"
            )


jacobian = jacrev


@overload
def hessian(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
) -> Callable[P, Any]: ...
@overload
def hessian(
    fun: Callable[P, tuple[Any, Aux]],
    argnums: Argnums = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
) -> Callable[P, tuple[Any, Aux]]: ...
@overload
def hessian(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Any: ...
@api_boundary
def hessian(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """A function that gives the matrix of second derivatives, forward over reverse.

    Args:
        fun: a function of arrays and trees of arrays.
        argnums: the position of the argument to differentiate with respect to, or several.
        has_aux: whether ``fun`` returns a pair whose second part is passed through.
        holomorphic: whether ``fun`` is a holomorphic function of complex arguments.

    >>> from bindax_transforms import hessian
    >>> float(hessian(lambda x: x * x * x)(2.0))
    12.0
    """
    check_function("hessian", "fun", fun)
    first = jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic)
    second: Callable[..., Any] = jacfwd(first, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return second
