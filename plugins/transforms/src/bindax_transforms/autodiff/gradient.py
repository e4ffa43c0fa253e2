"""Gradients of user functions by argument: ``grad`` and ``value_and_grad``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, overload

import numpy as np

from bindax_core.extend import (
    DebugInfo,
    PyTreeDef,
    api_boundary,
    as_array,
    float0,
    is_value,
    operations_for,
    tree_flatten,
    tree_unflatten,
    typeof,
    unknown_type_error,
    wraps,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import argument_names, flatten_function, parameter_roots, partition
from bindax_transforms.autodiff.jvp import lower_aux, split_aux
from bindax_transforms.autodiff.linear_program import filled, pull_back
from bindax_transforms.autodiff.linearize import linearize_flat
from bindax_transforms.staging.reference import Reference, argument_error

P = ParamSpec("P")
R = TypeVar("R")
Aux = TypeVar("Aux")

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
            # As in JAX: grad takes a call without the argument for a wrong call.
            error = TypeError if i >= len(args) and name.endswith("grad") else ValueError
            raise error(
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


def differentiated(
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


def _input_error(name: str, where: str, x: Any, holomorphic: bool) -> Exception:
    if isinstance(x, Reference):
        return argument_error(x, f"{name} with respect to {where}: it")
    if not is_value(x):
        return unknown_type_error(x, f"{name} with respect to {where}: ")
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


_SCALAR = "Gradient only defined for scalar-output functions."


def _check_output(out: Any, name: str, holomorphic: bool) -> None:
    if not is_value(out):
        raise TypeError(
            f"{_SCALAR} {name} needs a function that returns one scalar, but it returned "
            f"{type(out).__name__}: {out!r:.80}. Return the scalar alone, use has_aux=True for "
            f"more outputs, or jacrev for several."
        )
    aval = typeof(out)
    if aval.shape != ():
        raise TypeError(
            f"{_SCALAR} {name} needs a function that returns a scalar, but it returned "
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


@overload
def value_and_grad(
    fun: Callable[P, R],
    argnums: int = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    fun: Callable[P, R],
    argnums: Sequence[int],
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[R, tuple[Any, ...]]]: ...
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
    _, leaves, in_tree, partial = differentiated(
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


@overload
def grad(
    fun: Callable[P, Any],
    argnums: int = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]: ...
@overload
def grad(
    fun: Callable[P, Any],
    argnums: Sequence[int],
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[Any, ...]]: ...
@overload
def grad(
    fun: Callable[P, tuple[Any, Aux]],
    argnums: Argnums = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, tuple[Any, Aux]]: ...
@overload
def grad(
    fun: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Any: ...
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
