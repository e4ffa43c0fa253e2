"""Objects: Python objects whose attributes are the nodes and edges of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar
from weakref import ref

import numpy as np

from bindax_core.extend import Array, is_value, tree_leaves
from bindax_nnx._counted import Counted
from bindax_nnx._marks import Marked, declared_marks
from bindax_nnx._mutation_counter import current_trace, describe_trace, mutation_counter
from bindax_nnx._paths import Place, full_name, name_places
from bindax_nnx._tokens import NodeToken, node_token
from bindax_nnx.errors import TraceContextError
from bindax_nnx.external_nodes import find_foreign
from bindax_nnx.variables import Variable
from bindax_text import Parts, View

T = TypeVar("T")

_set = object.__setattr__

on_definition: list[Callable[[type[Object]], None]] = []
"""Functions to call with each class of objects when it is defined."""


class Object(Counted):
    """Base of what takes part in transformations with the identity of Python objects.

    Attributes may hold variables, other objects, arrays, containers of these, and static values
    that are hashable. Several attributes may hold the same object. Instances are pytrees, unless
    their class is defined with ``pytree=False``; objects that they share are then several.

    >>> from bindax_nnx import Variable
    >>> class Counter(Object):
    ...     def __init__(self):
    ...         self.count = Variable(0)
    >>> counter = Counter()
    >>> counter.count += 1
    >>> int(counter.count)
    1
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_nnx_context",
        "_nnx_mark",
        "_nnx_marks",
        "_nnx_parts",
        "_nnx_place",
        "_nnx_plan",
    )

    __bindax_remedy__: ClassVar[str] = (
        "Objects go through the transformations of bindax.nnx, such as nnx.jit and nnx.grad in the "
        "place of bindax.jit and bindax.grad. Or pass their variables: graphdef, state = "
        "nnx.split(model) outside, and nnx.merge(graphdef, state) in the function of the state."
    )
    _nnx_tokens: ClassVar[dict[Any, tuple[NodeToken, tuple[str, ...]]]] = {}
    _nnx_declared: ClassVar[dict[str, bool] | None] = None
    _nnx_is_pytree: ClassVar[bool] = True
    _nnx_marks: dict[str, bool] | None  # which attributes were said to be data, or static
    _nnx_context: Any
    _nnx_mark: Any  # of the counter, when an attribute was last changed
    _nnx_parts: Any  # what the static part was as a pytree, with the mark then
    _nnx_plan: Any
    _nnx_place: Place | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make the object under the innermost active trace."""
        made: Self = new_object(cls, current_trace())
        return made

    def __init_subclass__(cls, *, pytree: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._nnx_tokens = {}
        cls._nnx_declared = declared_marks(cls)
        cls._nnx_is_pytree = pytree
        for function in on_definition:
            function(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if type(value) is Marked:
            value = self._follow_mark(name, value)
        if name in attributes and attributes[name] is value:
            return  # as after `self.count += 1`, which changes the variable
        found = getattr(type(self), name, None)
        if found is not None and hasattr(type(found), "__set__"):  # a property, or like one
            _set(self, name, value)
            return
        self._require_context(name)
        if not isinstance(value, (str, int, float)):
            name_places(value, ref(self), name)
            if self._nnx_marks is not None and self._nnx_marks.get(name) is False:
                self._require_static(name, value)
        attributes[name] = value
        self._changed()

    def _require_static(self, name: str, value: Any) -> None:
        """Raise where an attribute that was said to be static is given data."""
        held = has_data(value) if type(self)._nnx_is_pytree else []
        if held:
            kind = type(self).__name__
            raise ValueError(
                f"Found data in the static attribute {full_name(self)}.{name}: the value of type "
                f"{type(value).__name__} holds a {type(held[0]).__name__}. Mark the attribute as "
                f"data, by nnx.data(...) around the value or `{name}: ... = nnx.data()` in the "
                f"class, or define the class with `class {kind}(..., pytree=False)`."
            )

    def __delattr__(self, name: str) -> None:
        if name not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} to delete.")
        self._require_context(name)
        del self.__dict__[name]
        self._changed()

    def _follow_mark(self, name: str, marked: Marked) -> Any:
        """Note whether an attribute is said to be data or static; gives its value."""
        marks = self._nnx_marks
        if not marked.is_data:
            self._require_static(name, marked.value)
        if type(self)._nnx_is_pytree and (marks or {}).get(name) is not marked.is_data:
            self._require_context(name)
            _set(self, "_nnx_marks", {**(marks or {}), name: marked.is_data})
            self._changed()
        return marked.value

    def _changed(self) -> None:
        mutation_counter.advance()
        _set(self, "_nnx_mark", mutation_counter.now)

    def _require_context(self, name: str) -> None:
        now = current_trace()
        if self._nnx_context is not now:
            raise TraceContextError(
                f"{full_name(self)}.{name} was changed {describe_trace(now)}, but the object "
                f"was made {describe_trace(self._nnx_context)}. Pass the object as an argument of "
                f"the transformed function instead of using it from the enclosing scope."
            )

    def __getstate__(self) -> Any:
        attributes = dict(self.__dict__)
        marks = self._nnx_marks
        return attributes if marks is type(self)._nnx_declared else (attributes, marks)

    def __setstate__(self, state: Any) -> None:
        attributes, marks = state if isinstance(state, tuple) else (state, self._nnx_marks)
        self.__dict__.update(attributes)
        _set(self, "_nnx_marks", marks)

    def __copy__(self) -> Any:
        copy = type(self).__new__(type(self))
        copy.__dict__.update(self.__dict__)
        _set(copy, "_nnx_marks", self._nnx_marks)
        return copy

    def __bindax_parts__(self) -> Parts:
        attributes = self.__dict__
        shown = [(f"{name}=", attributes[name]) for name in self._nnx_order(tuple(attributes))]
        return Parts(f"{type(self).__name__}(", shown, ")")

    def __repr__(self) -> str:
        return repr(View(self))  # arrays by their types

    def _nnx_token(self) -> tuple[NodeToken, tuple[str, ...]]:
        """The token of this object as its attributes are, and their names in order."""
        cls, marks = type(self), self._nnx_marks
        present: Any = tuple(self.__dict__)
        own = None if marks is cls._nnx_declared else tuple(sorted((marks or {}).items()))
        key = present if own is None else (present, own)
        found = cls._nnx_tokens.get(key)
        if found is None:
            names = cls._nnx_order(present)
            found = cls._nnx_tokens[key] = (node_token(cls, names, own), names)
        return found

    def _nnx_key(self, name: str) -> Any:
        """The entry of paths for an attribute."""
        return name

    @classmethod
    def _nnx_order(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(names))


# The setters of the slots: tracing a function of a large model restores many objects.
_set_context, _set_mark, _set_marks, _set_parts, _set_plan, _set_place = (
    vars(Object)[f"_nnx_{name}"].__set__
    for name in ("context", "mark", "marks", "parts", "plan", "place")
)


def new_object(kind: type[Object], context: Any) -> Any:
    """An object of a type without attributes."""
    node = object.__new__(kind)
    _set_context(node, context)
    _set_mark(node, None)
    _set_marks(node, kind._nnx_declared)
    _set_parts(node, None)
    _set_plan(node, None)
    _set_place(node, None)
    return node


Pytree = Object
"""The name that newer versions of Flax have for ``Object``."""

_data_types: set[type] = set()


def register_data_type(type: T) -> T:
    """Make attributes that hold instances of a type data; can be used as a decorator.

    >>> register_data_type(range) is range, is_data(range(3))
    (True, True)
    """
    _data_types.add(type)  # type: ignore[arg-type]
    return type


def is_data(value: Any) -> bool:
    """Tell whether attributes that hold a value are data: an array, a variable, an object.

    >>> from bindax_nnx import Param
    >>> is_data(Param(1.0)), is_data("text")
    (True, False)
    """
    kind = type(value)
    if kind is Array or issubclass(kind, Object | Variable) or kind in _data_types:
        return True
    if issubclass(kind, bool | int | float | complex | str | np.generic) or value is None:
        return False
    return is_value(value) or find_foreign(kind) is not None


def has_data(value: Any) -> list[Any]:
    """The arrays, variables and objects in a value, or the value itself if it is one of these.

    >>> has_data([1, "text", [2.0]])
    []
    """
    return [x for x in tree_leaves(value, is_leaf=is_data) if is_data(x)]


def check_pytree(pytree: Object) -> None:
    """Check that no static attribute of an object holds data.

    Raises:
        TypeError: it is no object.
        ValueError: an attribute that was said to be static holds data, in a list say.
    """
    if not isinstance(pytree, Object):
        raise TypeError(f"check_pytree takes an nnx.Pytree, but got {pytree!r:.60}.")
    for name, is_marked in (pytree._nnx_marks or {}).items():
        if not is_marked and name in pytree.__dict__:
            pytree._require_static(name, pytree.__dict__[name])
