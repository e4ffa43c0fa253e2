"""Modules: objects with the conveniences of layers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from bindax_core.extend import typeof, zeros_like_aval
from bindax_nnx.filters import Filter, Path, to_predicate
from bindax_nnx.graph import GraphTraversal, iter_graph, iter_variables
from bindax_nnx.object import Object
from bindax_nnx.unflatten import Build
from bindax_nnx.variables import Perturbation, Variable


class Module(Object):
    """Base of layers and models.

    >>> from bindax_nnx import Param
    >>> class Scale(Module):
    ...     def __init__(self, factor):
    ...         self.factor = Param(factor)
    ...     def __call__(self, x):
    ...         return self.factor * x
    >>> Scale(2.0)(3.0)
    6.0
    """

    def sow(
        self,
        variable_type: type[Variable[Any]],
        name: str,
        value: Any,
        reduce_fn: Callable[[Any, Any], Any] = lambda past, value: (*past, value),
        init_fn: Callable[[], Any] = tuple,
    ) -> None:
        """Record a value, without returning it from every function between here and the caller.

        Args:
            variable_type: the kind of variable to keep it in, such as ``Intermediate``.
            name: the attribute; it is made when it is missing.
            value: the value.
            reduce_fn: from what was recorded and the value to what is recorded; appends it.
            init_fn: what is recorded before the first value.

        Raises:
            ValueError: the attribute is something else.
        """
        present = self.__dict__.get(name)
        if present is None:
            setattr(self, name, variable_type(reduce_fn(init_fn(), value)))
        elif isinstance(present, variable_type):
            present.value = reduce_fn(present.value, value)
        else:
            raise ValueError(
                f"sow: {type(self).__name__}.{name} is a {type(present).__name__}, not a "
                f"{variable_type.__name__}; choose another name."
            )

    def perturb(
        self, name: str, value: Any, variable_type: type[Variable[Any]] = Perturbation
    ) -> Any:
        """Add a zero to a value, so that the gradient with respect to the zero is that of it.

        Args:
            name: the attribute that keeps the zero; it is made when it is missing.
            value: an array.
            variable_type: the kind of variable to keep the zero in.

        Returns:
            The value.
        """
        present = self.__dict__.get(name)
        if present is None:
            present = variable_type(zeros_like_aval(typeof(value)))
            setattr(self, name, present)
        return present.value + value

    def iter_modules(self) -> Iterator[tuple[Path, Module]]:
        """This module and all below it, with paths, the innermost first."""
        return iter_modules(self)

    def iter_children(self) -> Iterator[tuple[Any, Module]]:
        """The modules that are attributes of this one, with their names."""
        return iter_children(self)

    def set_attributes(
        self, *filters: Filter, raise_if_not_found: bool = True, **attributes: Any
    ) -> None:
        """Set attributes of this module and all below it, where they have them.

        Args:
            filters: which modules; all of them where none is given.
            raise_if_not_found: whether an attribute must be found somewhere.
            attributes: values by name.

        Raises:
            ValueError: no module has an attribute of a name.
        """
        missing = set_where_present(self, filters or ..., attributes)
        if missing and raise_if_not_found:
            raise ValueError(
                f"set_attributes: no module of {type(self).__name__} that the filters take has "
                f"the attributes {missing}."
            )

    def train(self, **attributes: Any) -> None:
        """Set ``deterministic=False``, ``use_running_average=False`` where they are."""
        self.set_attributes(
            deterministic=False, use_running_average=False, **attributes, raise_if_not_found=False
        )

    def eval(self, **attributes: Any) -> None:
        """Set ``deterministic=True``, ``use_running_average=True`` where they are."""
        self.set_attributes(
            deterministic=True, use_running_average=True, **attributes, raise_if_not_found=False
        )


def set_where_present(node: Any, only: Filter, attributes: Mapping[str, Any]) -> list[str]:
    """Set attributes of the modules that have them; gives the names that none has."""
    takes = to_predicate(only)
    missing = set(attributes)
    for path, module in iter_modules(node):
        if takes(path, module):
            for name, value in attributes.items():
                if hasattr(module, name):
                    setattr(module, name, value)
                    missing.discard(name)
    return sorted(missing)


def iter_modules(node: Any) -> Iterator[tuple[Path, Module]]:
    """All modules that can be reached from a node, with paths, the innermost first.

    >>> import numpy as np
    >>> from bindax_nnx import Linear, Param, Rngs, state
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> [path for path, module in iter_modules(layer)]
    [()]
    """
    return ((path, x) for path, x in iter_graph(node) if isinstance(x, Module))


def iter_children(node: Any) -> Iterator[tuple[Any, Module]]:
    """The modules that are attributes of a node, with their names.

    >>> from bindax_nnx import Linear, Rngs
    >>> class Pair(Module):
    ...     def __init__(self, rngs):
    ...         self.first = Linear(2, 3, rngs=rngs)
    ...         self.second = Linear(3, 1, rngs=rngs)
    >>> pair = Pair(Rngs(0))
    >>> [name for name, child in iter_children(pair)]
    ['first', 'second']
    """
    if not hasattr(node, "__dict__"):
        raise TypeError(f"iter_children takes a module, but got {node!r:.60}.")
    return ((k, x) for k, x in sorted(node.__dict__.items()) if isinstance(x, Module))


iter_module_children = iter_children
"""The name that newer versions of Flax have for ``iter_children``."""


def train_mode(node: Any, **attributes: Any) -> Any:
    """A view of a module in training mode: its own structure, the variables shared.

    >>> from bindax_nnx import Dropout, Rngs
    >>> train_mode(Dropout(0.5, rngs=Rngs(0))).deterministic
    False
    """
    return _in_mode("train_mode", node, False, attributes)


def eval_mode(node: Any, **attributes: Any) -> Any:
    """A view of a module in evaluation mode: its own structure, the variables shared.

    >>> from bindax_nnx import Dropout, Rngs
    >>> eval_mode(Dropout(0.5, rngs=Rngs(0))).deterministic
    True
    """
    return _in_mode("eval_mode", node, True, attributes)


def _in_mode(function: str, node: Any, is_still: bool, attributes: Mapping[str, Any]) -> Any:
    modes = {"deterministic": is_still, "use_running_average": is_still}
    copy, missing = _viewed(node, ..., {**modes, **attributes})
    _require_found(function, copy, [name for name in missing if name in attributes])
    return copy


def view(
    node: Any, /, *, only: Filter = ..., raise_if_not_found: bool = True, **attributes: Any
) -> Any:
    """A copy of the objects of a graph with other attributes, around the same variables.

    A module with a method ``set_view`` gets those that this takes as its arguments; of others the
    attributes are set that they have.

    Args:
        node: the root.
        only: which modules are changed.
        raise_if_not_found: whether each attribute must be found somewhere.
        attributes: values by name.

    Raises:
        ValueError: no module has an attribute of a name.

    >>> from bindax_nnx import Param
    >>> class Layer(Module):
    ...     def __init__(self):
    ...         self.kernel, self.deterministic = Param(1.0), False
    >>> layer = Layer()
    >>> quiet = view(layer, deterministic=True)
    >>> quiet.kernel is layer.kernel, layer.deterministic
    (True, False)
    """
    copy, missing = _viewed(node, only, attributes)
    if raise_if_not_found:
        _require_found("view", copy, missing)
    return copy


def _viewed(node: Any, only: Filter, attributes: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """A view, and the names that no module has."""
    takes = to_predicate(only)
    copy = copy_around(node, lambda variable: variable)
    missing = dict(attributes)
    for path, module in iter_modules(copy):
        if not takes(path, module):
            continue
        setter = getattr(module, "set_view", None)
        parameters = {} if setter is None else inspect.signature(setter).parameters
        names = module.__dict__ if setter is None else parameters
        is_open = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        found = {k: x for k, x in attributes.items() if is_open or k in names}
        for name, value in found.items():
            missing.pop(name, None)
            if setter is None:
                setattr(module, name, value)
        if setter is not None:
            setter(**found)
    return copy, list(missing)


def _require_found(function: str, node: Any, missing: Sequence[str]) -> None:
    if missing:
        present = {name for _, module in iter_modules(node) for name in module.__dict__}
        near = [x for name in missing for x in get_close_matches(name, present - {name}, 1)]
        meant = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
        raise ValueError(
            f"{function}: no module of {type(node).__name__} that the filter takes has the "
            f"attributes {sorted(missing)}.{meant}"
        )


def copy_around(node: Any, replaced: Callable[[Variable[Any]], Variable[Any]]) -> Any:
    """A copy of the objects of a graph, around what takes the place of each variable."""
    variables = [variable for _, variable in iter_variables(node)]
    traversal = GraphTraversal({id(variable): i for i, variable in enumerate(variables)})
    traversal.value(node)
    copy = Build(traversal.tokens, iter(()), originals=[replaced(x) for x in variables]).next()
    if isinstance(node, Object):
        object.__setattr__(copy, "_nnx_place", node._nnx_place)  # for messages
    return copy
