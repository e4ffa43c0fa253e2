"""The last calls of a function, which an accelerator compares with the next one."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from bindax_core.extend import fast_paths, hide_internal_frames

if TYPE_CHECKING:
    from bindax_transforms.compilation._jit_cache import Entry
    from bindax_transforms.staging.static_arguments import JitOptions

_MOST = 16
"""The most signatures of a function; more are left to Python."""


def _accelerate(kind: Any) -> None:
    """Have an accelerator look at the arguments of calls before a method of Python does."""
    if isinstance(kind.__call__, FunctionType) and fast_paths.method is not None:
        kind.__call__ = fast_paths.method(kind.__call__, hide_internal_frames)


class KnownCalls:
    """The signatures of the last calls of a function, each with the traced function for it.

    Attributes:
        call: from positional and named arguments to the result, or NotImplemented of a call that
            looks like none before; None without an accelerator.
    """

    def __init__(self, options: JitOptions) -> None:
        self._options = options
        self._signatures: list[tuple[Any, ...]] = []
        self.call: Callable[[Any, Any], Any] | None = None
        self._describe: Callable[[Any, Any], Any] | None = None

    def remember(self, kind: Any, args: Any, kwargs: Any, key: Any, entry: Entry) -> None:
        """Have calls that look like this one, of functions of a class, use a traced function."""
        if self.call is None:
            if fast_paths.signatures is None:
                return
            _accelerate(kind)
            options = self._options
            self.call, self._describe = fast_paths.signatures(
                options.static_argnums, options.static_argnames, self._signatures
            )
        fields = None if self._describe is None else self._describe(args, kwargs)
        if fields is not None:
            _, avals, _, settings = key
            found = (*fields, avals, settings, entry, entry.consts or None, entry.out_tree)
            self._signatures.insert(0, found)
            del self._signatures[_MOST:]

    def forget(self, entry: Entry | None = None) -> None:
        """Forget the calls of a traced function, or all."""
        kept = () if entry is None else [one for one in self._signatures if one[-3] is not entry]
        self._signatures[:] = kept

    @property
    def hits(self) -> int:
        """The number of calls that were found."""
        return 0 if self.call is None else int(self.call.__self__.hits)  # type: ignore[attr-defined]
