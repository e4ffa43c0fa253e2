"""Arguments and results of the methods of a model, noted while it is traced."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from textwrap import indent
from typing import Any

import bindax_transforms
from bindax_core import ClosedJaxpr, ShapeDtypeStruct, eval_jaxpr
from bindax_core.extend import is_value, typeof
from bindax_core.tree_util import is_tree_node
from bindax_nnx.containers import Dict, List
from bindax_nnx.filters import Path
from bindax_nnx.graph import children_of, iter_nodes
from bindax_nnx.lift.call import Call
from bindax_nnx.lift.remat_eval_shape import eval_shape, without_constants
from bindax_nnx.module import Module
from bindax_nnx.object import Object
from bindax_nnx.rngs import Rngs, RngStream
from bindax_nnx.split_merge import clone
from bindax_nnx.variables import Variable


@dataclass
class CallInfo:
    """One call of a method, a row of ``tabulate``.

    Attributes:
        owner: the path of the object in the model.
        path: the same, with the name of the method unless it is a call of the object itself.
        type: the class of the object.
        inputs: the types of the arguments, one a line.
        outputs: the types of the results, one a line.
        flops: how many operations of floating-point numbers it takes, or None.
        vjp_flops: how many it takes with its derivative, or None.
    """

    owner: Path
    path: Path
    type: type
    inputs: str
    outputs: str = ""
    flops: int | None = None
    vjp_flops: int | None = None


class Recorder:
    """The calls that a model makes, in the order in which they begin.

    Args:
        flops: whether to count the operations of each call.
        vjp_flops: whether to count those of each call and its derivative.
    """

    def __init__(self, flops: bool, vjp_flops: bool) -> None:
        self.calls: list[CallInfo] = []
        self._flops, self._vjp_flops = flops, vjp_flops

    def run(self, model: Any, method: str, args: Any, kwargs: Any) -> list[CallInfo]:
        """Trace a method of a copy of the model; each call of an object is noted once."""
        if not callable(getattr(model, method, None)):
            raise ValueError(
                f"tabulate: method is the name of what is called, but {type(model).__name__} has "
                f"no method {method!r:.60}."
            )
        copy = clone(model)
        for path, node in list(iter_nodes(copy)):
            if isinstance(node, Object) and not isinstance(node, Rngs | RngStream):
                object.__setattr__(node, "__class__", self._recording(type(node), path))
        function = getattr(type(copy), method)
        dynamic, given, named = _without_constants(function, (copy, *args), kwargs)
        eval_shape(dynamic, *given, **named)
        return self.calls

    def _recording(self, kind: Any, path: Path) -> type:
        """A class like another one whose calls are noted."""
        methods = {name: self._noted(f, kind, path) for name, f in _methods(kind).items()}
        made = type(
            kind.__name__, (kind,), {"__slots__": (), **methods}, pytree=kind._nnx_is_pytree
        )
        made.__qualname__, made.__module__ = kind.__qualname__, kind.__module__
        return made

    def _noted(self, method: Callable[..., Any], kind: type, owner: Path) -> Callable[..., Any]:
        path = owner if method.__name__ == "__call__" else (*owner, method.__name__)

        @wraps(method)
        def noted(node: Any, *args: Any, **kwargs: Any) -> Any:
            info = CallInfo(owner, path, kind, "\n".join(_inputs(args, kwargs)))
            if any((x.path, x.inputs) == (path, info.inputs) for x in self.calls):
                return method(node, *args, **kwargs)
            self.calls.append(info)
            if self._flops or self._vjp_flops:
                out = self._counted(info, method, node, args, kwargs)
            else:
                out = method(node, *args, **kwargs)
            info.outputs = described(out)
            return out

        return noted

    def _counted(
        self, info: CallInfo, method: Any, node: Any, args: Any, kwargs: dict[str, Any]
    ) -> Any:
        """The result of a method, traced once to count its operations."""
        call = Call(*_without_constants(method, (node, *args), kwargs))
        jaxpr = bindax_transforms.make_jaxpr(call.flat)(call.leaves)
        if self._flops:
            info.flops = _flops(jaxpr, lambda *xs: eval_jaxpr(jaxpr.jaxpr, *_split(jaxpr, xs)))
        if self._vjp_flops:
            info.vjp_flops = _flops(jaxpr, lambda *xs: _with_derivative(jaxpr, xs))
        return call.finish(eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *call.leaves))


def _methods(kind: type) -> dict[str, Callable[..., Any]]:
    """The public methods of a class, and its call, without those that all modules have."""
    common = {Module, Object, List, Dict}
    bases = [base for base in kind.__mro__ if base not in common and issubclass(base, Object)]
    return {
        name: f
        for base in reversed(bases)
        for name, f in vars(base).items()
        if inspect.isfunction(f) and (name == "__call__" or not name.startswith("_"))
    }


def _is_constant(x: Any) -> bool:
    return x is None or isinstance(x, bool | int | float | complex | str)


def _without_constants(
    method: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Callable[..., Any], list[Any], dict[str, Any]]:
    """A method of the arguments that are no numbers, texts or None of Python, and these."""
    named = {name: x for name, x in kwargs.items() if _is_constant(x)}
    static = [i for i, x in enumerate(args) if _is_constant(x)]
    rest = {name: x for name, x in kwargs.items() if name not in named}
    return *without_constants(partial(method, **named), args, static), rest


def _inputs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    if len(args) == 1 and not kwargs:
        return [described(args[0])]
    return [described(x) for x in (args, kwargs) if x]


def described(value: Any) -> str:
    """A value in lines: types of arrays, names of objects, containers entry by entry.

    >>> import numpy as np
    >>> print(described({"x": np.ones(2), "y": [None, {}]}))
    x: float64[2]
    y:
    - None
    - {}
    """
    if isinstance(value, type):
        return f"type[{value.__name__}]"
    if isinstance(value, Variable):
        return described(value.raw_value)
    if is_value(value) and not _is_constant(value):
        return str(typeof(value).str_short())
    if isinstance(value, ShapeDtypeStruct):
        return f"{value.dtype}[{','.join(map(str, value.shape))}]"
    if isinstance(value, Object):
        return f"{type(value).__name__}(...)"
    entries = _entries(value)
    return "\n".join(entries) if entries else repr(value)


def _entries(value: Any) -> list[str]:
    """The lines of the entries of a container; none of what is no container."""
    if not is_tree_node(type(value)):
        return []
    is_sequence = isinstance(value, list | tuple) and not hasattr(value, "_fields")
    return [
        f"- {indent(described(x), '  ').lstrip()}" if is_sequence else _entry(key, described(x))
        for key, x in children_of(value)
    ]


def _entry(key: Any, text: str) -> str:
    if text.startswith("- "):
        return f"{key}:\n{text}"
    return f"{key}:\n{indent(text, '  ')}" if "\n" in text else f"{key}: {text}"


def _split(jaxpr: ClosedJaxpr, xs: tuple[Any, ...]) -> Any:
    """Constants as a list, then the arguments."""
    size = len(jaxpr.consts)
    return (xs[:size], *xs[size:])


def _flops(jaxpr: ClosedJaxpr, function: Callable[..., Any]) -> int:
    """The number of operations of a function of the constants and arguments of a jaxpr."""
    types = [*map(typeof, jaxpr.consts), *jaxpr.in_avals]
    lowered = bindax_transforms.jit(function).lower(*types)
    return int(lowered.cost_analysis().get("flops", 0))


def _with_derivative(jaxpr: ClosedJaxpr, xs: tuple[Any, ...]) -> Any:
    """The pullback of a jaxpr, at cotangents that are its results."""
    places = [i for i, x in enumerate(xs) if typeof(x).dtype.kind in "fcV"]

    def inexact(*values: Any) -> list[Any]:
        given = list(xs)
        for i, value in zip(places, values, strict=True):
            given[i] = value
        outs = eval_jaxpr(jaxpr.jaxpr, *_split(jaxpr, tuple(given)))
        return [x for x in outs if typeof(x).dtype.kind in "fcV"]

    outs, pullback = bindax_transforms.vjp(inexact, *[xs[i] for i in places])
    return pullback(outs)
