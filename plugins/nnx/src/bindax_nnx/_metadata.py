"""The metadata of variables: values by name, some of which name the axes of the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from bindax_core import config
from bindax_nnx._mutation_counter import mutation_counter

_MISSING = object()
_set = object.__setattr__

Hooks = tuple[Callable[..., Any], ...]

_FORMER_NAMES = ("sharding", "sharding_names")
"""Older names of the metadata ``out_sharding``, which names the axes of the value."""


def current_names(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with the present name where an older one was used.

    Raises:
        ValueError: they ask for a kind of variable that there is not.
    """
    require_no_hijax(metadata)
    return {current_name(name): value for name, value in metadata.items()}


def require_no_hijax(metadata: Mapping[str, Any]) -> None:
    """Raise where metadata ask for a hijax variable."""
    if metadata.get("hijax"):
        raise ValueError(
            "hijax=True asks for a hijax variable, which bindax.nnx does not have. Pass ref=True: "
            "the value is in a mutable array then, which any transformed function can change."
        )


def current_name(name: str) -> str:
    """The present name for an older one."""
    return "out_sharding" if name in _FORMER_NAMES else name


def checked_pairs(pairs: Any) -> tuple[tuple[str, Any], ...]:
    """Metadata as they were written."""
    if not (type(pairs) is tuple and all(type(p) is tuple and len(p) == 2 for p in pairs)):
        raise ValueError(f"metadata of a variable are pairs of names and values, not {pairs!r:.60}")
    return tuple(sorted(current_names({str(name): x for name, x in pairs}).items()))


def _with_axis(names: Any, index: int, name: Any) -> tuple[Any, ...]:
    names = tuple(names) + (None,) * max(0, index - len(names))
    return (*names[:index], name, *names[index:])


class VariableMetadata:
    """A value with the metadata that the variable made of it is to have.

    Args:
        raw_value: the value.
        on_set_value: functions of the variable and a new value, to what is stored.
        on_get_value: functions of the variable and its value, to what is read.
        on_create_value: functions of the variable and its first value, to what is stored.
        on_add_axis: functions of the variable, the place and the name of a new axis.
        on_remove_axis: functions of the variable, the place and the name of an axis.
        metadata: metadata by name.

    Attributes:
        raw_value: the value.
        metadata: metadata by name, and hooks that were given.

    >>> from bindax_nnx import Param
    >>> variable = Param(VariableMetadata(1.0, metadata={"role": "scale"}))
    >>> variable.role, float(variable)
    ('scale', 1.0)
    """

    __slots__ = ("metadata", "raw_value")

    def __init__(
        self,
        raw_value: Any,
        on_set_value: Hooks = (),
        on_get_value: Hooks = (),
        on_create_value: Hooks = (),
        on_add_axis: Hooks = (),
        on_remove_axis: Hooks = (),
        metadata: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        hooks = {
            "on_set_value": on_set_value,
            "on_get_value": on_get_value,
            "on_create_value": on_create_value,
            "on_add_axis": on_add_axis,
            "on_remove_axis": on_remove_axis,
        }
        self.raw_value: Any = raw_value
        self.metadata: dict[str, Any] = {**{k: x for k, x in hooks.items() if x}, **metadata}


def _in_turn(hooks: Hooks, variable: HasMetadata, *args: Any) -> Any:
    """Call hooks of a variable; of those of a value, each takes what the one before returned."""
    for hook in hooks:
        result = hook(variable, *args)
        args = (result,) if len(args) == 1 else args
    return args[0]


class HasMetadata:
    """Methods of variables for their metadata."""

    __slots__ = ()

    _metadata: dict[str, Any]
    _describe: Callable[[], str]
    _require_context: Callable[[], None]

    def _hook(self, name: str) -> Callable[..., Any] | None:
        metadata = self._metadata
        if metadata and name in metadata:
            given = metadata[name]
            return partial(_in_turn, given if isinstance(given, tuple) else (given,), self)
        if getattr(type(self), name) is None:
            return None
        bound: Callable[..., Any] = getattr(self, name)
        return bound

    def get_metadata(self, name: str | None = None, default: Any = _MISSING) -> Any:
        """The metadata of a name, or all as a dictionary, those among them that all variables have.

        Args:
            name: the name.
            default: what to return where there is none of the name.

        Raises:
            KeyError: there is none of the name, and no default.
        """
        usual = {"eager_sharding": config.nnx_eager_sharding, "hijax": False, "ref": False}
        metadata = {**usual, **self._metadata}
        if name is None:
            return metadata
        name = current_name(name)
        return metadata[name] if default is _MISSING else metadata.get(name, default)

    def has_metadata(self, name: str) -> bool:
        """Tell whether there is metadata of a name."""
        return current_name(name) in self._metadata

    def set_metadata(self, *given: Any, **metadata: Any) -> None:
        """Add metadata, or replace some.

        Args:
            given: a dictionary, which replaces all metadata; or a name and a value.
            metadata: values by name.

        Raises:
            TypeError: ``given`` is neither, or there are values by name, too.
        """
        if given and metadata:
            raise TypeError(
                "Cannot mix positional and keyword arguments: set_metadata takes a dictionary, a "
                "name and a value, or values by name."
            )
        if len(given) == 1 and isinstance(given[0], Mapping):
            self._change_metadata(dict(given[0]))
        elif len(given) == 2:
            self._change_metadata({**self._metadata, given[0]: given[1]})
        elif given:
            raise TypeError(
                f"set_metadata takes a dictionary, or a name and a value, or values by name, but "
                f"got {len(given)} positional arguments: {given!r:.80}."
            )
        else:
            self._change_metadata({**self._metadata, **metadata})

    def del_metadata(self, name: str) -> None:
        """Delete the metadata of a name.

        Raises:
            AttributeError: there is none of the name.
        """
        self.__delattr__(name)

    def _change_metadata(self, metadata: dict[str, Any]) -> None:
        self._require_context()
        _set(self, "_metadata", current_names(metadata))
        _set(self, "_token", None)
        mutation_counter.advance_variables()

    def add_axis(self, index: int, name: Any) -> None:
        """Tell the variable that its value has a new axis; the sharding metadata get the name."""
        names = self._metadata.get("out_sharding")
        if names is not None:
            self.set_metadata(out_sharding=self.with_axis("out_sharding", index, name))
        if (hook := self._hook("on_add_axis")) is not None:
            hook(index, name)

    def remove_axis(self, index: int, name: Any) -> None:
        """Tell the variable that an axis of its value is gone; ``add_axis`` is the inverse.

        Raises:
            ValueError: the axis has another name in the sharding metadata.
        """
        names = self._metadata.get("out_sharding")
        if names is not None:
            self.set_metadata(out_sharding=self.without_axis("out_sharding", index, name))
        if (hook := self._hook("on_remove_axis")) is not None:
            hook(index, name)

    def with_axis(self, field: str, index: int, name: Any) -> tuple[Any, ...]:
        """The metadata of a name, which name axes, with an axis more."""
        return _with_axis(self._metadata[field], index, name)

    def without_axis(self, field: str, index: int, name: Any) -> tuple[Any, ...]:
        """The metadata of a name, which name axes, with an axis less.

        Raises:
            ValueError: the axis has another name.
        """
        names = tuple(self._metadata[field])
        if not 0 <= index < len(names) or names[index] != name:
            found = repr(names[index]) if 0 <= index < len(names) else "no name"
            raise ValueError(
                f"{self._describe()} has {field}={names!r}, with {found} for axis {index}, but "
                f"the transformation that removes this axis calls it {name!r} in "
                f"transform_metadata. Map the axis of that name, or correct one of the two."
            )
        return (*names[:index], *names[index + 1 :])
