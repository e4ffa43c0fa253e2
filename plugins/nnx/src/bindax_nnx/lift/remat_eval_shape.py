"""Rematerialization, and what is known of functions of objects without computing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Literal, TypeVar, overload

import bindax_transforms
from bindax_core import ClosedJaxpr
from bindax_core.extend import api_boundary
from bindax_nnx.lift._decorators import decorator, lift_of, preserving
from bindax_nnx.lift._names import named_after
from bindax_nnx.lift.call import Call
from bindax_nnx.lift.statics import marked, unmarked
from bindax_nnx.lift.structure import Arguments, CallScope, Given, Returned, finish

R = TypeVar("R")


@preserving
def remat(
    f: Callable[..., Any],
    *,
    prevent_cse: bool = True,
    static_argnums: int | Sequence[int] = (),
    policy: Any = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]:
    """A function that computes its intermediate values again when it is differentiated.

    Args:
        f: a function of objects, arrays and trees of these.
        prevent_cse: whether the compiler is kept from finding the two computations equal.
        static_argnums: positions of arguments that are constants.
        policy: which intermediate values are kept all the same.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    >>> import numpy as np
    >>> from bindax_nnx import Module, Param, grad
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(2.0)
    ...     @remat
    ...     def __call__(self, x):
    ...         return self.factor * x
    >>> float(grad(lambda scale: scale(3.0))(Scale()).factor.value)
    3.0
    """
    lift = lift_of("remat", "f", f, graph, graph_updates)
    if not isinstance(prevent_cse, bool):
        raise TypeError(f"remat: prevent_cse must be True or False, but it is {prevent_cse!r:.60}.")

    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    def flat(given: Given) -> Returned:
        scope = CallScope(given.form, given.leaves, lift)
        args, kwargs = unmarked(*scope.arguments)
        return scope.leave(f(*args, **kwargs))

    # It is traced once for each form of arguments.
    named = named_after(flat, f)
    checkpointed = bindax_transforms.checkpoint(named, prevent_cse=prevent_cse, policy=policy)

    @wraps(f)
    @api_boundary
    def remade(*args: Any, **kwargs: Any) -> Any:
        numbers = {i + len(args) if i < 0 else i for i in static}
        arguments = Arguments((marked(args, numbers), kwargs), lift=lift)
        returned = checkpointed(Given(arguments.form, arguments.leaves))
        return finish(returned.outcome, arguments, returned.outs)

    return remade


def without_constants(
    f: Callable[..., Any], args: Sequence[Any], static: Iterable[int]
) -> tuple[Callable[..., Any], list[Any]]:
    """A function of the arguments that are no constants, and these arguments."""
    constants = {i % len(args): args[i] for i in static}

    @wraps(f)
    def dynamic(*given: Any, **named: Any) -> Any:
        rest = iter(given)
        return f(
            *[constants[i] if i in constants else next(rest) for i in range(len(args))], **named
        )

    return dynamic, [x for i, x in enumerate(args) if i not in constants]


@api_boundary
def eval_shape(
    f: Callable[..., R],
    *args: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
    **kwargs: Any,
) -> R:
    """The types of the results of a function, without computing them; no argument is changed.

    Args:
        f: a function of objects, arrays and trees of these.
        args: its arguments.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.
        kwargs: its keyword arguments.

    Returns:
        The result, with types in the place of arrays; the variables of new objects hold types.

    >>> import numpy as np
    >>> from bindax_nnx import Module, Param
    >>> class Scale(Module):
    ...     def __init__(self, size):
    ...         self.factor = Param(np.zeros(size))
    >>> eval_shape(lambda: Scale(3)).factor.value
    ShapeDtypeStruct(shape=(3,), dtype=float64)
    """
    lift = lift_of("eval_shape", "f", f, graph, graph_updates)
    call = Call(f, args, kwargs, lift=lift)
    outs = bindax_transforms.eval_shape(call.flat, call.leaves)
    return call.finish_apart(outs)  # type: ignore[no-any-return]


@overload
def make_jaxpr(
    f: Callable[..., Any],
    *,
    static_argnums: int | Sequence[int] = (),
    return_shape: Literal[False] = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., ClosedJaxpr]: ...
@overload
def make_jaxpr(
    f: Callable[..., Any],
    *,
    static_argnums: int | Sequence[int] = (),
    return_shape: Literal[True],
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., tuple[ClosedJaxpr, Any]]: ...
@overload
def make_jaxpr(
    *,
    static_argnums: int | Sequence[int] = (),
    return_shape: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
@decorator
def make_jaxpr(
    f: Callable[..., Any],
    *,
    static_argnums: int | Sequence[int] = (),
    return_shape: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]:
    """A function that gives the program of ``f`` for arguments of the types it is called with.

    The program takes the values of the variables in the arguments, then the other arrays.

    Args:
        f: a function of objects, arrays and trees of these.
        static_argnums: positions of arguments that are constants.
        return_shape: whether to return the types of the results, too.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    >>> make_jaxpr(lambda x: x * 2.0)(1.0)
    { lambda a:float64[] .
      let b:float64[] = mul a 2.0
      in ( b ) }
    """
    lift = lift_of("make_jaxpr", "f", f, graph, graph_updates)
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @wraps(f)
    @api_boundary
    def make(*args: Any, **kwargs: Any) -> Any:
        dynamic, rest = without_constants(f, args, static)
        call = Call(dynamic, rest, kwargs, lift=lift)
        jaxpr, types = bindax_transforms.make_jaxpr(call.flat, return_shape=True)(call.leaves)
        return (jaxpr, call.finish_apart(types)) if return_shape else jaxpr

    return make
