"""Derivatives of user functions by argument: ``grad`` and the Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    DebugInfo,
    PyTreeDef,
    api_boundary,
    as_array,
    float0,
    is_value,
    operations_for,
    tree_flatten,
    tree_map,
    tree_unflatten,
    typeof,
    unknown_type_message,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import argument_names, flatten_function, parameter_roots, partition
from bindax_transforms.autodiff.jvp import jvp, lower_aux, split_aux
from bindax_transforms.autodiff.linearize import filled, linearize_flat, pull_back, vjp
from bindax_transforms.batching.vmap import vmap

Argnums = int | Sequence[int]


def _positions(argnums: Argnums, args: Sequence[Any], name: str) -> tuple[int, ...]:
    wanted: Any = argnums
    several = isinstance(wanted, Iterable) and not isinstance(wanted, str)
    given: tuple[Any, ...] = tuple(wanted) if several else (wanted,)
    positions = []
    for i in given:
        if not hasattr(i, "__index__") or isinstance(i, bool):
            raise TypeError(
                f"argnums of {name} must be an integer or a sequence of integers, but got "
                f"{argnums!r}."
            )
        if not -len(args) <= i < len(args):
            raise ValueError(
                f"{name} was asked to differentiate with respect to argument {i}, but the function "
                f"was called with {len(args)} positional arguments; pass it by position, or change "
                f"argnums."
            )
        positions.append(i % len(args))
    if len(set(positions)) < len(positions):
        raise ValueError(
            f"argnums={argnums!r} of {name} names an argument twice; each has one gradient."
        )
    return tuple(positions)


def _differentiated(
    name: str,
    fun: Callable[..., Any],
    argnums: Argnums,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    holomorphic: bool,
    allow_int: bool = False,
) -> tuple[tuple[Any, ...], list[Any], PyTreeDef, Callable[..., Any]]:
    """The arguments to differentiate, their leaves, checked, and the function of them alone.

    The structure is that of ``(arguments, {})``.
    """
    positions = _positions(argnums, args, name)
    dynamic = tuple([args[i] for i in positions])
    leaves, in_tree = tree_flatten((dynamic, {}))
    for i, x in enumerate(leaves):
        if not is_value(x) or not _is_valid_input(typeof(x), name, allow_int, holomorphic):
            roots = parameter_roots(fun, len(args))
            names = [path for p in positions for path in argument_names(args[p], roots[p])]
            raise _input_error(name, names[i], x, holomorphic)

    def partial(*dynamic: Any) -> Any:
        full = list(args)
        for i, x in zip(positions, dynamic, strict=True):
            full[i] = x
        return fun(*full, **kwargs)

    partial.__wrapped__ = fun  # type: ignore[attr-defined]  # messages name the user's function
    return dynamic, leaves, in_tree, partial


def _input_error(name: str, where: str, x: Any, holomorphic: bool) -> TypeError:
    if not is_value(x):
        return TypeError(f"{name} with respect to {where}: {unknown_type_message(x)}")
    aval = typeof(x)
    if holomorphic:
        return TypeError(
            f"{name} with holomorphic=True needs complex inputs, but {where} is {aval.str_short()}."
        )
    if np.issubdtype(aval.dtype, np.complexfloating):
        return TypeError(
            f"{name} needs real inputs, but {where} is {aval.str_short()}. For "
            f"holomorphic functions pass holomorphic=True; otherwise use jacrev or vjp."
        )
    return TypeError(
        f"{name} needs inputs of a float dtype, but {where} is {aval.str_short()}. "
        f"Convert it to a float, choose other argnums, or pass allow_int=True to get "
        f"float0 zeros for it."
    )


def _is_valid_input(aval: Any, name: str, allow_int: bool, holomorphic: bool) -> bool:
    is_complex = np.issubdtype(aval.dtype, np.complexfloating)
    if holomorphic:
        return bool(is_complex)
    if is_complex:  # in reverse mode the real and imaginary parts are found together
        return name != "jacfwd"
    return aval.tangent_aval().dtype != float0 or allow_int


def _check_output(out: Any, name: str, holomorphic: bool) -> None:
    if not is_value(out):
        raise TypeError(
            f"{name} needs a function that returns one scalar, but it returned "
            f"{type(out).__name__}: {out!r:.80}. Return the scalar alone, use has_aux=True for "
            f"more outputs, or jacrev for several."
        )
    aval = typeof(out)
    if aval.shape != ():
        raise TypeError(
            f"{name} needs a function that returns a scalar, but it returned "
            f"{aval.str_short()} with shape {aval.shape}. Reduce it, for example with a sum or a "
            f"mean, or use jacrev or jacfwd."
        )
    is_complex = np.issubdtype(aval.dtype, np.complexfloating)
    if aval.tangent_aval().dtype == float0 or is_complex != holomorphic:
        wanted = "complex" if holomorphic else "float"
        hint = " For holomorphic functions pass holomorphic=True." if is_complex else ""
        raise TypeError(
            f"{name} needs a function that returns a {wanted} scalar, but it returned "
            f"{aval.str_short()}.{hint}"
        )


@api_boundary
def value_and_grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., tuple[Any, Any]]:
    """A function that gives the value of ``fun`` and its gradient.

    Args:
        fun: a function whose output is one float scalar.
        argnums: the position of the argument to differentiate with respect to, or several.
        has_aux: whether ``fun`` returns a pair whose second part is passed through.
        holomorphic: whether ``fun`` is a holomorphic function of complex arguments.
        allow_int: whether integers among the arguments get ``float0`` zeros instead of an error.

    Returns:
        A function with the arguments of ``fun`` that returns ``(value, gradient)``, or
        ``((value, aux), gradient)``. The gradient has the structure of the argument; with several
        argnums it is a tuple.

    >>> from bindax_transforms import value_and_grad
    >>> value, gradient = value_and_grad(lambda x: x * x)(3.0)
    >>> float(value), float(gradient)
    (9.0, 6.0)
    """
    check_function("value_and_grad", "fun", fun)

    @wraps(fun)
    @api_boundary
    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return _value_and_grad(
            "value_and_grad", fun, argnums, has_aux, holomorphic, allow_int, args, kwargs
        )

    return value_and_gradient


def _value_and_grad(
    name: str,
    fun: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Any]:
    _, leaves, in_tree, partial = _differentiated(
        name, fun, argnums, args, kwargs, holomorphic, allow_int
    )
    aux: list[Any] = []
    partial = split_aux(partial, aux, name) if has_aux else partial
    origin = DebugInfo(name, fun)
    flat_function, out_tree = flatten_function(partial, in_tree, origin)
    lin = linearize_flat(flat_function, leaves, origin)
    value = tree_unflatten(out_tree(), lin.primals_out)
    _check_output(value, name, holomorphic)
    value = as_array(value)
    aval = typeof(value)
    one = operations_for(aval).ones(aval)
    cotangents = partition(lin.nonzeros_out, [one])[1]
    found = pull_back(lin.jaxpr.jaxpr, lin.jaxpr.consts, cotangents)
    in_avals = [typeof(x) for x in leaves]
    gradients, _ = tree_unflatten(in_tree, filled(lin.nonzeros_in, found, in_avals))
    gradient = gradients[0] if isinstance(argnums, int) else gradients
    return ((value, lower_aux(aux[-1])) if has_aux else value), gradient


@api_boundary
def grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """A function that gives the gradient of ``fun`` by reverse-mode differentiation.

    Args:
        fun: a function whose output is one float scalar.
        argnums: the position of the argument to differentiate with respect to, or several.
        has_aux: whether ``fun`` returns a pair whose second part is passed through.
        holomorphic: whether ``fun`` is a holomorphic function of complex arguments.
        allow_int: whether integers among the arguments get ``float0`` zeros instead of an error.

    Returns:
        A function with the arguments of ``fun`` that returns the gradient, of the structure of the
        argument, or the pair ``(gradient, aux)``.

    Raises:
        TypeError: when the output is not a float scalar, or an argument is not of a float dtype.

    >>> from bindax_transforms import grad
    >>> float(grad(lambda x: x * x)(3.0))
    6.0
    """
    check_function("grad", "fun", fun)

    @wraps(fun)
    @api_boundary
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, result = _value_and_grad(
            "grad", fun, argnums, has_aux, holomorphic, allow_int, args, kwargs
        )
        return (result, value[1]) if has_aux else result

    return gradient


def _standard_basis(tree: Any) -> list[Any]:
    """For each leaf, the unit tangents of the whole tree, stacked along a new first axis."""
    avals = [typeof(x) for x in tree]
    sizes = [aval.size for aval in avals]
    total, start, basis = sum(sizes), 0, []
    for aval, size in zip(avals, sizes, strict=True):
        block = np.zeros((total, size), aval.dtype)
        block[start : start + size] = np.eye(size, dtype=aval.dtype)
        basis.append(Array.from_numpy(block.reshape(total, *aval.shape)))
        start += size
    return basis


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
        dynamic, leaves, in_tree, partial = _differentiated(
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
        dynamic, _, _, partial = _differentiated(
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
    return jacfwd(first, argnums, has_aux=has_aux, holomorphic=holomorphic)
