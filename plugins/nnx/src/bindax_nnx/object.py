"""Objects: Python objects whose attributes are the nodes and edges of a graph."""

from __future__ import annotations

from typing import Any, ClassVar, Self
from weakref import ref

from bindax_nnx._mutation_counter import current_trace, describe_trace, mutation_counter
from bindax_nnx._paths import Place, full_name, name_places
from bindax_nnx._text import Parts, describe
from bindax_nnx._tokens import NodeToken, node_token
from bindax_nnx.errors import TraceContextError

_set = object.__setattr__


class Object:
    """Base of what takes part in transformations with the identity of Python objects.

    Attributes may hold variables, other objects, containers of these, and static values that are
    hashable. Arrays belong into variables. Several attributes may hold the same object.

    >>> from bindax_nnx import Variable
    >>> class Counter(Object):
    ...     def __init__(self):
    ...         self.count = Variable(0)
    >>> counter = Counter()
    >>> counter.count += 1
    >>> int(counter.count)
    1
    """

    __slots__ = ("__dict__", "__weakref__", "_nnx_context", "_nnx_mark", "_nnx_place", "_nnx_plan")

    __bindax_remedy__: ClassVar[str] = (
        "Objects go through the transformations of bindax.nnx, such as nnx.jit and nnx.grad in the "
        "place of bindax.jit and bindax.grad. Or pass their variables: graphdef, state = "
        "nnx.split(model) outside, and nnx.merge(graphdef, state) in the function of the state."
    )
    _nnx_tokens: ClassVar[dict[tuple[str, ...], tuple[NodeToken, tuple[str, ...]]]] = {}
    _nnx_context: Any
    _nnx_mark: Any  # of the counter, when an attribute was last changed
    _nnx_plan: Any
    _nnx_place: Place | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make the object under the innermost active trace."""
        made: Self = new_object(cls, current_trace())
        return made

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._nnx_tokens = {}

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if name in attributes and attributes[name] is value:
            return  # as after `self.count += 1`, which changes the variable
        if isinstance(getattr(type(self), name, None), property):
            _set(self, name, value)
            return
        self._require_context(name)
        if not isinstance(value, (str, int, float)):
            name_places(value, ref(self), name)
        attributes[name] = value
        self._changed()

    def __delattr__(self, name: str) -> None:
        if name not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} to delete.")
        self._require_context(name)
        del self.__dict__[name]
        self._changed()

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

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __copy__(self) -> Any:
        copy = type(self).__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def _nnx_parts(self) -> Parts:
        shown = sorted(self.__dict__.items(), key=lambda item: item[0])
        return Parts(f"{type(self).__name__}(", [(f"{name}=", x) for name, x in shown], ")")

    def __repr__(self) -> str:
        return describe(self)

    @classmethod
    def _nnx_token(cls, attributes: dict[str, Any]) -> tuple[NodeToken, tuple[str, ...]]:
        """The token of an object with these attributes, and their names in order."""
        present = tuple(attributes)
        found = cls._nnx_tokens.get(present)
        if found is None:
            names = cls._nnx_order(present)
            found = cls._nnx_tokens[present] = (node_token(cls, names), names)
        return found

    @classmethod
    def _nnx_order(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(names))


def new_object(kind: type[Object], context: Any) -> Any:
    """An object of a type without attributes."""
    node = object.__new__(kind)
    _set(node, "_nnx_context", context)
    _set(node, "_nnx_mark", None)
    _set(node, "_nnx_plan", None)
    _set(node, "_nnx_place", None)
    return node


Pytree = Object
"""The name that newer versions of Flax have for ``Object``."""


class List(Object):
    """A list that is an object of its own, so that it can be shared, changed and found again.

    >>> layers = List([1, 2])
    >>> layers.append(3)
    >>> list(layers), len(layers)
    ([1, 2, 3], 3)
    """

    def __init__(self, items: Any = ()) -> None:
        for item in items:
            self.append(item)

    def append(self, item: Any) -> None:
        """Add an item at the end."""
        setattr(self, str(len(self)), item)

    def __len__(self) -> int:
        return len(self.__dict__)

    def _name(self, index: int) -> str:
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"a List of {size} items has none at {index}.")
        return str(index % size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return List([self[i] for i in range(*index.indices(len(self)))])
        return getattr(self, self._name(index))

    def __setitem__(self, index: int, item: Any) -> None:
        setattr(self, self._name(index), item)

    def __iter__(self) -> Any:
        attributes = self.__dict__
        return (attributes[str(i)] for i in range(len(attributes)))

    @classmethod
    def _nnx_order(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(str, range(len(names))))


class Dict(Object):
    """A dictionary with string keys that is an object of its own.

    >>> layers = Dict(encoder=1)
    >>> layers["decoder"] = 2
    >>> sorted(layers)
    ['decoder', 'encoder']
    """

    def __init__(self, items: Any = (), **named: Any) -> None:
        for name, item in {**dict(items), **named}.items():
            self[name] = item

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __setitem__(self, name: str, item: Any) -> None:
        setattr(self, name, item)

    def __delitem__(self, name: str) -> None:
        delattr(self, name)

    def __iter__(self) -> Any:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)

    def __contains__(self, name: object) -> bool:
        return name in self.__dict__

    def keys(self) -> Any:
        """The names."""
        return self.__dict__.keys()

    def values(self) -> Any:
        """The items."""
        return self.__dict__.values()

    def items(self) -> Any:
        """The pairs of names and items."""
        return self.__dict__.items()
