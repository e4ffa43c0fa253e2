"""Modules: objects with the conveniences of layers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from bindax_core import config
from bindax_core.extend import tree_map, typeof, zeros_like_aval
from bindax_core.tree_util import is_tree_node
from bindax_nnx.filters import Filter, Path, to_predicate
from bindax_nnx.graph import children_of, iter_nodes
from bindax_nnx.modes import is_graph
from bindax_nnx.named_calls import named_call
from bindax_nnx.object import Object
from bindax_nnx.sharing import require_pytree, require_tree
from bindax_nnx.split_merge import copy_around
from bindax_nnx.variables import Perturbation, Variable

T = TypeVar("T")

CAPTURES = "__captures__"
"""The attribute of modules with what ``capture`` records."""


def _records_nothing(capture_noop: bool | None) -> bool:
    """Tell whether ``sow`` and ``perturb`` do nothing outside of ``capture``."""
    return bool(config.nnx_sow_capture_noop) if capture_noop is None else capture_noop


def _zeros_like(value: Any) -> Any:
    return tree_map(lambda x: zeros_like_aval(typeof(x)), value)


def _sum(one: Any, other: Any) -> Any:
    return tree_map(lambda x, y: x + y, one, other)


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

    def __init_subclass__(cls, **options: Any) -> None:
        call = cls.__dict__.get("__call__")
        if inspect.isfunction(call):
            kind: Any = cls
            kind.__call__ = named_call(call)
        super().__init_subclass__(**options)

    def sow(
        self,
        variable_type: type[Variable[Any]],
        name: str,
        value: Any,
        reduce_fn: Callable[[Any, Any], Any] = lambda past, value: (*past, value),
        init_fn: Callable[[], Any] = tuple,
        capture_noop: bool | None = None,
    ) -> bool:
        """Record a value, without returning it from every function between here and the caller.

        Args:
            variable_type: the kind of variable to keep it in, such as ``Intermediate``.
            name: the attribute; it is made when it is missing.
            value: the value.
            reduce_fn: from what was recorded and the value to what is recorded; appends it.
            init_fn: what is recorded before the first value.
            capture_noop: whether nothing is recorded outside of ``capture``; by default as the
                setting ``nnx_sow_capture_noop`` says.

        Under ``capture``, the value is recorded for this, if variables of the kind are asked for.

        Returns:
            Whether the value was recorded.

        Raises:
            ValueError: the attribute is something else.
        """
        if CAPTURES in self.__dict__:
            record = self._record(variable_type)
            if record is not None:
                past = record.get_value()
                former = past[name] if name in past else init_fn()
                record.set_value({**past, name: reduce_fn(former, value)})
            return record is not None
        if _records_nothing(capture_noop):
            return False
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
        return True

    def _record(self, kind: type[Variable[Any]]) -> Variable[Any] | None:
        """The record of ``capture`` for a kind of variable; None where that is not asked for."""
        return next((x for x in self.__dict__[CAPTURES] if type(x) is kind), None)

    def perturb(
        self,
        name: str,
        value: Any,
        variable_type: type[Variable[Any]] = Perturbation,
        capture_noop: bool | None = None,
    ) -> Any:
        """Add a zero to a value, so that the gradient with respect to the zero is that of it.

        Args:
            name: the attribute that keeps the zero; it is made when it is missing.
            value: an array, or a tree of arrays.
            variable_type: the kind of variable to keep the zero in.
            capture_noop: whether nothing is added outside of ``capture``; by default as the
                setting ``nnx_sow_capture_noop`` says.

        Returns:
            The value.

        Raises:
            ValueError: the attribute is something else.
        """
        if CAPTURES in self.__dict__:
            record = self._record(variable_type)
            if record is None:
                return value
            if name not in record.get_value():
                record.set_value({**record.get_value(), name: _zeros_like(value)})
            return _sum(record.get_value()[name], value)
        if _records_nothing(capture_noop):
            return value
        present = self.__dict__.get(name)
        if present is None:
            present = variable_type(_zeros_like(value))
            setattr(self, name, present)
        elif not isinstance(present, variable_type):
            raise ValueError(
                f"perturb: Expected {name!r} of {type(self).__name__} to be of type "
                f"{variable_type.__name__}, but it is a {type(present).__name__}; choose another "
                f"name."
            )
        return _sum(present.value, value)

    def iter_modules(self) -> Iterator[tuple[Path, Module]]:
        """This module and all below it, with paths, the innermost first."""
        return iter_modules(self)

    def iter_children(self) -> Iterator[tuple[Any, Module]]:
        """The modules that are attributes of this one, with their names."""
        return iter_children(self)

    def set_attributes(
        self,
        *filters: Filter,
        raise_if_not_found: bool = True,
        graph: bool | None = None,
        **attributes: Any,
    ) -> None:
        """Set attributes of this module and all below it, where they have them.

        Args:
            filters: which modules; all of them where none is given.
            raise_if_not_found: whether an attribute must be found somewhere.
            graph: whether variables may be shared; by default as ``set_graph_mode`` says.
            attributes: values by name.

        Raises:
            ValueError: no module has an attribute of a name, or a tree has a variable twice.
        """
        if not is_graph(graph):
            require_tree("set_attributes", self)
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


def iter_modules(node: Any, *, graph: bool | None = None) -> Iterator[tuple[Path, Module]]:
    """All modules that can be reached from a node, with paths, the innermost first.

    Args:
        node: the root.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    >>> from bindax_nnx import Linear, Rngs
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> [path for path, module in iter_modules(layer)]
    [()]
    """
    if not is_graph(graph):
        require_tree("iter_modules", node)
    return ((path, x) for path, x in iter_nodes(node) if isinstance(x, Module))


def iter_children(node: Any, *, graph: bool | None = None) -> Iterator[tuple[Any, Module]]:
    """The modules that are attributes of a node, or items of a container, with their names.

    Args:
        node: a module, or a container.
        graph: whether the node may be an object that is no pytree; by default as
            ``set_graph_mode`` says.

    Raises:
        TypeError: the node is no module and no container.
        ValueError: it is no pytree, and the mode is that of trees.

    >>> from bindax_nnx import Linear, Rngs
    >>> class Pair(Module):
    ...     def __init__(self, rngs):
    ...         self.first = Linear(2, 3, rngs=rngs)
    ...         self.second = Linear(3, 1, rngs=rngs)
    >>> pair = Pair(Rngs(0))
    >>> [name for name, child in iter_children(pair)]
    ['first', 'second']
    """
    if not isinstance(node, Object) and not is_tree_node(type(node)):
        raise TypeError(f"iter_children takes a module, but got {node!r:.60}.")
    if isinstance(node, Object) and not is_graph(graph):
        require_pytree("iter_children", node)
    return ((key, x) for key, x in children_of(node) if isinstance(x, Module))


iter_module_children = iter_children
"""The name that newer versions of Flax have for ``iter_children``."""


def train_mode(node: T, **attributes: Any) -> T:
    """A view of a module in training mode: its own structure, the variables shared.

    >>> from bindax_nnx import Dropout, Rngs
    >>> train_mode(Dropout(0.5, rngs=Rngs(0))).deterministic
    False
    """
    return _in_mode("train_mode", node, False, attributes)


def eval_mode(node: T, **attributes: Any) -> T:
    """A view of a module in evaluation mode: its own structure, the variables shared.

    >>> from bindax_nnx import Dropout, Rngs
    >>> eval_mode(Dropout(0.5, rngs=Rngs(0))).deterministic
    True
    """
    return _in_mode("eval_mode", node, True, attributes)


def _in_mode(function: str, node: T, is_still: bool, attributes: Mapping[str, Any]) -> T:
    modes = {"deterministic": is_still, "use_running_average": is_still}
    copy, missing = _viewed(node, ..., {**modes, **attributes})
    _require_found(function, copy, [name for name in missing if name in attributes])
    return copy


def view(
    node: T,
    /,
    *,
    only: Filter = ...,
    raise_if_not_found: bool = True,
    graph: bool | None = None,
    **attributes: Any,
) -> T:
    """A copy of the objects of a graph with other attributes, around the same variables.

    A module with a method ``set_view`` gets those that this takes as its arguments; of others the
    attributes are set that they have.

    Args:
        node: the root.
        only: which modules are changed.
        raise_if_not_found: whether each attribute must be found somewhere.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.
        attributes: values by name.

    Raises:
        ValueError: no module has an attribute of a name, or a tree has a variable twice.

    >>> from bindax_nnx import Param
    >>> class Layer(Module):
    ...     def __init__(self):
    ...         self.kernel, self.deterministic = Param(1.0), False
    >>> layer = Layer()
    >>> quiet = view(layer, deterministic=True)
    >>> quiet.kernel is layer.kernel, layer.deterministic
    (True, False)
    """
    if not is_graph(graph):
        require_tree("view", node)
    copy, missing = _viewed(node, only, attributes)
    if raise_if_not_found:
        _require_found("view", copy, missing)
    return copy


def _viewed(node: T, only: Filter, attributes: Mapping[str, Any]) -> tuple[T, list[str]]:
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
