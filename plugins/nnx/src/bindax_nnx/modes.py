"""The three modes: graphs with updates, graphs, and trees.

In each mode, the values and metadata of the variables in the arguments of a transformed function
come out of it. A graph with updates gives back all other changes of objects, too. A tree has no
variable twice.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from bindax_core import config
from bindax_core.extend import Setting
from bindax_nnx.settings import nnx_graph_mode, nnx_graph_updates

F = TypeVar("F", bound=Callable[..., Any])


class Switch:
    """A setting that is changed at once, and back at the end of a block or of a function.

    Inside of a block the change ends with the block.

    Args:
        value: the value of the setting from now on.

    Raises:
        TypeError: when it is no boolean.
    """

    _setting: Setting

    def __init__(self, value: bool) -> None:
        if not isinstance(value, bool | np.bool_):
            raise TypeError(
                f"{type(self).__name__}: value must be True or False, but got {value!r:.60} of "
                f"type {type(value).__name__}."
            )
        self._before = self.current_value()
        self._value = value
        self._blocks: list[AbstractContextManager[None]] = []
        config.update_here(self._setting.name, value)

    @classmethod
    def current_value(cls) -> bool:
        """The value of the setting."""
        value: bool = getattr(config, cls._setting.name)
        return value

    def __enter__(self) -> None:
        config.update_here(self._setting.name, self._before)
        self._blocks.append(self._setting(self._value))
        self._blocks[-1].__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._blocks.pop().__exit__(*exception)

    def __call__(self, function: F) -> F:
        """The function, run with the setting; what the setting was before holds again."""
        config.update_here(self._setting.name, self._before)
        setting, value = self._setting, self._value

        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with setting(value):
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]


class set_graph_mode(Switch):
    """Say whether objects are graphs, which may share variables, or trees.

    It is the value of the parameter ``graph`` of the functions and transformations where that is
    None. The change lasts, or to the end of a ``with`` block, or for the calls of a function.

    >>> with set_graph_mode(False):
    ...     set_graph_mode.current_value()
    False
    """

    _setting = nnx_graph_mode


class set_graph_updates(Switch):
    """Say whether all changes of objects come out of transformations, or those of variables alone.

    It is the value of the parameter ``graph_updates`` of the transformations where that is None.
    The change lasts, or to the end of a ``with`` block, or for the calls of a function.

    >>> with set_graph_updates(False):
    ...     set_graph_updates.current_value()
    False
    """

    _setting = nnx_graph_updates


class Mode(enum.Enum):
    """Treatments of sharing, and of changes in objects."""

    UPDATES = "graph with updates"
    GRAPH = "graph"
    TREE = "tree"


def is_graph(graph: bool | None) -> bool:
    """The value of a parameter ``graph``.

    Raises:
        TypeError: when it is neither a boolean nor None.
    """
    return _chosen("graph", graph, set_graph_mode)


def _chosen(name: str, value: Any, switch: type[Switch]) -> bool:
    """The value of a parameter, or of its setting where it is None."""
    if value is None:
        return switch.current_value()
    if not isinstance(value, bool | np.bool_):
        raise TypeError(
            f"{name} must be True, False or None, but got {value!r:.60} of type "
            f"{type(value).__name__}."
        )
    return bool(value)


def mode_of(graph: bool | None, graph_updates: bool | None) -> Mode:
    """The mode that the two parameters say, or the settings where they are None.

    Raises:
        TypeError: when one is neither a boolean nor None.
    """
    updates = _chosen("graph_updates", graph_updates, set_graph_updates)
    if not is_graph(graph):
        return Mode.TREE
    return Mode.UPDATES if updates else Mode.GRAPH
