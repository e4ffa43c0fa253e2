"""Fast paths: functions of an accelerator that Python code asks before it does the work itself.

The Python code is the meaning. A fast path does the same where nothing is unusual, and leaves the
rest to it: each says how. Without an accelerator every fast path is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bindax_core._extension_points import runtime

FAST_PATHS = ("flatten", "method", "runner", "signatures", "unflatten", "wrapper")


class FastPaths:
    """The functions of the accelerator, which is looked for when the first one is wanted.

    Attributes:
        provider: the distribution and version of the accelerator; empty without one.
        flatten: from a tree to leaves and structure, or None for a tree that Python flattens.
        unflatten: from a structure and a list of as many leaves to a tree; what it raises is found
            again by Python.
        wrapper: from a type and a placement to a function from buffers to arrays.
        runner: from a placement, an executable whose ``_run`` starts it, the handlers of its
            results, a function for operands elsewhere and one for errors, to the function of
            operands.
        method: from a method ``__call__`` and a function for errors to a method that first asks
            the attribute ``_known`` of its object, whose ``call`` is as ``signatures`` makes it.
        signatures: from positions and names of static arguments and a list of known signatures to
            a function that calls, or returns NotImplemented, and one that describes a call.

    >>> from bindax_core.extend import fast_paths
    >>> fast_paths.load()
    >>> isinstance(fast_paths, FastPaths), (fast_paths.flatten is None) == (not fast_paths.provider)
    (True, True)
    """

    __slots__ = ("_is_loaded", "provider", *FAST_PATHS)

    provider: str
    flatten: Callable[[Any], Any] | None
    unflatten: Callable[[Any, list[Any]], Any] | None
    wrapper: Callable[[Any, Any], Callable[[Any], Any]] | None
    runner: Callable[..., Callable[[Any], list[Any]]] | None
    method: Callable[..., Callable[..., Any]] | None
    signatures: Callable[..., tuple[Callable[..., Any], Callable[..., Any]]] | None

    def __init__(self) -> None:
        self._is_loaded = False
        self.clear()
        self.flatten = self._first_flatten

    def clear(self) -> None:
        """Leave everything to Python."""
        self.provider = ""
        for name in FAST_PATHS:
            setattr(self, name, None)

    def set(self, functions: Mapping[str, Callable[..., Any]], provider: str) -> None:
        """Use the functions of an accelerator."""
        self._is_loaded = True
        self.provider = provider
        for name, function in functions.items():
            setattr(self, name, function)

    def load(self) -> None:
        """Load the accelerator, if one is installed and this was not done before."""
        if not self._is_loaded:
            self._is_loaded = True
            self.flatten = None
            runtime.plugins.load_accelerator()

    def _first_flatten(self, tree: Any) -> Any:
        self.load()
        found: Callable[[Any], Any] | None = self.flatten
        return None if found is None else found(tree)


fast_paths: FastPaths = FastPaths()
"""The fast paths of this process."""
