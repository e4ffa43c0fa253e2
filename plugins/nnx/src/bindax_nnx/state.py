"""States: the variables of a graph as a nested mapping, without the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, overload

from bindax_core.extend import NodeDefinition
from bindax_core.tree_util import DictKey, register_node
from bindax_nnx.filters import Filter, Path, check_order, to_predicate
from bindax_nnx.variables import Variable
from bindax_text import Displayed, Parts


class State(Displayed, MutableMapping[Any, Any]):
    """A nested mapping from the paths of a graph to variables; a pytree.

    Keys are also attributes.

    Args:
        mapping: values and nested mappings by key.

    >>> from bindax_nnx import Param
    >>> state = State({"layer": {"kernel": Param(1.0)}})
    >>> state.layer.kernel.value
    1.0
    >>> state.flat_state()
    {('layer', 'kernel'): Param(
      value=1.0
    )}
    """

    __slots__ = ("_mapping",)

    _mapping: dict[Any, Any]

    def __init__(self, mapping: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        items = dict(mapping).items()
        nested = {k: State(v) if type(v) is dict else v for k, v in items}
        object.__setattr__(self, "_mapping", nested)

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._mapping[key]
        except KeyError:
            raise KeyError(f"{key!r}; the state has {sorted(self._mapping, key=str)}") from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self._mapping[key] = State(value) if type(value) is dict else value

    def __delitem__(self, key: Any) -> None:
        del self._mapping[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._mapping)

    def __len__(self) -> int:
        return len(self._mapping)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._mapping:
            raise AttributeError(f"the state has no {name!r}, but {sorted(self, key=str)}.")
        return self._mapping[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return isinstance(other, Mapping) and self == State(other)
        return self._mapping == other._mapping

    __hash__ = None  # type: ignore[assignment]

    def __bindax_parts__(self) -> Parts:
        return Parts("State({", [(f"{key!r}: ", x) for key, x in self._mapping.items()], "})")

    def __reduce__(self) -> Any:
        return State, (self._mapping,)

    @property
    def raw_mapping(self) -> dict[Any, Any]:
        """The mapping from keys to variables and states itself."""
        return self._mapping

    def flat_state(self) -> dict[Path, Any]:
        """The variables by path, sorted."""
        return dict(_flat(self, ()))

    @classmethod
    def from_flat_path(cls, flat: Mapping[Path, Any] | Iterable[tuple[Path, Any]]) -> State:
        """A state from variables by path."""
        state = cls()
        for path, value in dict(flat).items():
            state._insert(path, value)
        return state

    def _insert(self, path: Path, value: Any) -> None:
        node = self
        for key in path[:-1]:
            node = node._mapping.setdefault(key, State())
        node._mapping[path[-1]] = value

    def split(self, first: Filter, /, *filters: Filter) -> Any:
        """The state in parts, one for each filter; each variable is in the first that takes it.

        Raises:
            ValueError: no filter takes a variable; the message names its path.
        """
        return states_of(split_flat(self.flat_state(), (first, *filters), everything=True))

    def filter(self, first: Filter, /, *filters: Filter) -> Any:
        """The parts of the state that the filters take."""
        return states_of(split_flat(self.flat_state(), (first, *filters), everything=False))

    @staticmethod
    def merge(state: State, /, *states: State) -> State:
        """The union of states; of a path that several have, the last counts.

        >>> State.merge(State({"a": 1}), State({"b": 2})).flat_state()
        {('a',): 1, ('b',): 2}
        """
        flat: dict[Path, Any] = {}
        for part in (state, *states):
            flat.update(part.flat_state())
        return State.from_flat_path(flat)

    def __or__(self, other: State) -> State:
        return State.merge(self, other)

    def __sub__(self, other: State) -> State:
        """The variables at paths that the other state does not have."""
        theirs = other.flat_state()
        return State.from_flat_path({k: v for k, v in self.flat_state().items() if k not in theirs})

    def map(self, function: Callable[[Path, Any], Any]) -> State:
        """A state with ``function(path, variable)`` in the place of each variable."""
        return State.from_flat_path({k: function(k, v) for k, v in self.flat_state().items()})

    def to_pure_dict(self, extract_fn: Callable[[Any], Any] | None = None) -> dict[Any, Any]:
        """The values as nested dictionaries; see the function ``to_pure_dict``."""
        extract = _value if extract_fn is None else extract_fn
        return {
            key: x.to_pure_dict(extract) if isinstance(x, State) else extract(x)
            for key, x in self._mapping.items()
        }

    def replace_by_pure_dict(
        self, values: Mapping[Any, Any], replace_fn: Callable[[Any, Any], Any] | None = None
    ) -> None:
        """Put values of nested dictionaries in the variables; see the function of this name."""
        replaced = _replaced if replace_fn is None else replace_fn
        for key, value in values.items():
            own = key if key in self._mapping else _integer(key)
            if own not in self._mapping:
                raise ValueError(
                    f"replace_by_pure_dict: the state has no {key!r}, but "
                    f"{sorted(self._mapping, key=str)}."
                )
            here = self._mapping[own]
            if isinstance(here, State):
                here.replace_by_pure_dict(value, replaced)
            else:
                self._mapping[own] = replaced(here, value)


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Variable) else x


def _replaced(x: Any, value: Any) -> Any:
    return x.replace(value) if isinstance(x, Variable) else value


def _integer(key: Any) -> Any:
    """The integer that a key is the text of, as files have it, or the key."""
    return int(key) if isinstance(key, str) and key.isdecimal() else key


def from_flat_state(
    flat_state: Mapping[Path, Any] | Iterable[tuple[Path, Any]],
    *,
    cls: Callable[[dict[Any, Any]], Any] = State,
) -> Any:
    """The state with these paths.

    Args:
        flat_state: variables or values by path, or pairs of these.
        cls: what makes the state of nested dictionaries.

    >>> from_flat_state({("a", "c"): 2}).to_pure_dict()
    {'a': {'c': 2}}
    """
    state = State.from_flat_path(flat_state)
    return state if cls is State else cls(state.to_pure_dict(lambda x: x))


def to_pure_dict(state: State, extract_fn: Callable[[Any], Any] | None = None) -> dict[Any, Any]:
    """The values of a state as nested dictionaries.

    Args:
        state: the state.
        extract_fn: from a variable to what stands for it; its value if None.

    >>> import numpy as np
    >>> from bindax_nnx import Linear, Param, Rngs, state
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> to_pure_dict(state(layer))["bias"].shape
    (3,)
    """
    return required_state("to_pure_dict", state).to_pure_dict(extract_fn)


def replace_by_pure_dict(
    state: State,
    pure_dict: Mapping[Any, Any],
    replace_fn: Callable[[Any, Any], Any] | None = None,
) -> None:
    """Put values of nested dictionaries in the variables of a state.

    Args:
        state: the state, which is changed.
        pure_dict: nested dictionaries; the text of an integer stands for it, as in files.
        replace_fn: from a variable and a value to what is in the state then; by default a
            variable of the same kind with the value.

    Raises:
        ValueError: the state has no such key.

    >>> import numpy as np
    >>> from bindax_nnx import Linear, Param, Rngs, state
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> variables = state(layer)
    >>> replace_by_pure_dict(variables, {"bias": np.ones(3, np.float32)})
    >>> np.asarray(variables["bias"].value).tolist()
    [1.0, 1.0, 1.0]
    """
    required_state("replace_by_pure_dict", state).replace_by_pure_dict(pure_dict, replace_fn)


@overload
def split_state(state: State, filter: Filter, /) -> State: ...
@overload
def split_state(
    state: State, first: Filter, second: Filter, /, *filters: Filter
) -> tuple[State, ...]: ...
def split_state(state: State, first: Filter, /, *filters: Filter) -> Any:
    """The parts of a state, one for each filter; see ``State.split``.

    >>> import numpy as np
    >>> from bindax_nnx import Linear, Param, Rngs, state
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> parameters, others = split_state(state(layer), Param, ...)
    >>> len(parameters), len(others)
    (2, 0)
    """
    return required_state("split_state", state).split(first, *filters)


@overload
def filter_state(state: State, filter: Filter, /) -> State: ...
@overload
def filter_state(
    state: State, first: Filter, second: Filter, /, *filters: Filter
) -> tuple[State, ...]: ...
def filter_state(state: State, first: Filter, /, *filters: Filter) -> Any:
    """The parts of a state that the filters take; see ``State.filter``.

    >>> import numpy as np
    >>> from bindax_nnx import Linear, Param, Rngs, state
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> from bindax_nnx import PathContains
    >>> list(filter_state(state(layer), PathContains("bias")))
    ['bias']
    """
    return required_state("filter_state", state).filter(first, *filters)


def merge_state(
    state: State, /, *states: State, cls: Callable[[dict[Any, Any]], Any] = State
) -> Any:
    """The union of states; of a path that several have, the last counts.

    Args:
        state: the first one.
        states: the others.
        cls: what makes the union of nested dictionaries.

    >>> import numpy as np
    >>> from bindax_nnx import Linear, Param, Rngs, state
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> parameters, others = split_state(state(layer), Param, ...)
    >>> sorted(merge_state(parameters, others))
    ['bias', 'kernel']
    """
    given = [required_state("merge_state", one) for one in (state, *states)]
    return from_flat_state(State.merge(*given).flat_state(), cls=cls)


def map_state(f: Callable[[Path, Any], Any], state: State) -> State:
    """A state with ``f(path, variable)`` in the place of each variable.

    >>> map_state(lambda path, x: x + len(path), State({"a": 1})).to_pure_dict()
    {'a': 2}
    """
    return required_state("map_state", state).map(f)


def values_by_path(states: Iterable[Any]) -> dict[Path, Any]:
    """The variables or values of several states, mappings or flat states together."""
    flat: dict[Path, Any] = {}
    for state in states:
        if isinstance(state, Mapping):
            state = getattr(state, "state", state) if not isinstance(state, State) else state
            part = state if isinstance(state, State) else State(state)
            flat.update(part.flat_state())
        elif isinstance(state, Sequence) and not isinstance(state, str | bytes):
            flat.update(dict(state))  # as flatten returns it
        else:
            flat[()] = state
    return flat


def required_state(function: str, given: Any) -> State:
    """The state that a function was given, or an error that names the function."""
    if not isinstance(given, State):
        raise TypeError(f"{function}: state must be an nnx.State, but it is {given!r:.60}.")
    return given


def sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    """Keys in an order that does not depend on how they came in."""
    return sorted(mapping, key=lambda key: (type(key).__name__, key))


def states_of(parts: Iterable[Mapping[Path, Any]]) -> Any:
    """A state of each part, or the only one."""
    states = tuple(map(state_of_part, parts))
    return states if len(states) > 1 else states[0]


def state_of_part(part: Mapping[Path, Any]) -> Any:
    """The state of some variables by path; of a root that is a variable or array, this itself."""
    return part[()] if () in part else State.from_flat_path(part)


def _flat(state: State, path: Path) -> Iterator[tuple[Path, Any]]:
    for key in sorted_keys(state._mapping):
        value = state._mapping[key]
        if isinstance(value, State):
            yield from _flat(value, (*path, key))
        else:
            yield (*path, key), value


def split_flat(
    flat: Mapping[Path, Any], filters: tuple[Filter, ...], *, everything: bool
) -> list[dict[Path, Any]]:
    """Divide variables by path; ``everything`` says that each must be in a part."""
    check_order(filters)
    predicates = [to_predicate(filter) for filter in filters]
    parts: list[dict[Path, Any]] = [{} for _ in filters]
    for path, value in flat.items():
        for part, predicate in zip(parts, predicates, strict=True):
            if predicate(path, value):
                part[path] = value
                break
        else:
            if everything:
                raise ValueError(
                    f"no filter takes {'/'.join(map(str, path))}, a {type(value).__name__}; the "
                    f"filters are {filters!r}. Add one that does, or `...` as the last one."
                )
    return parts


def flatten_state(state: State) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The values of a state, and its keys, sorted."""
    keys = tuple(sorted_keys(state._mapping))
    return tuple([state._mapping[key] for key in keys]), keys


def flatten_state_with_keys(state: State) -> tuple[tuple[tuple[Any, Any], ...], tuple[Any, ...]]:
    """The pairs of keys and values of a state, and its keys, sorted."""
    children, keys = flatten_state(state)
    return tuple(zip(map(DictKey, keys), children, strict=True)), keys


def restore_state(keys: tuple[Any, ...], children: Iterable[Any]) -> State:
    """A state from its sorted keys and their values."""
    state = State()
    state._mapping.update(zip(keys, children, strict=True))
    return state


register_node(NodeDefinition(State, flatten_state, restore_state, flatten_state_with_keys))
