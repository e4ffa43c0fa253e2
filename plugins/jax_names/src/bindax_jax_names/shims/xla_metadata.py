"""``jax.experimental.xla_metadata``: marks for the compiler, which change no result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

__all__ = [
    "fuse_limit",
    "must_fuse_call",
    "set_xla_metadata",
    "xla_metadata_call",
    "xla_metadata_call2",
]

Function = Callable[..., Any]


@contextmanager
def _block() -> Iterator[None]:
    yield


def set_xla_metadata(x: Any = None, **metadata: Any) -> Any:
    """The value as it is; without one, a context manager, which is a decorator too."""
    return _block() if x is None else x


def fuse_limit() -> AbstractContextManager[None]:
    """A context manager that does nothing: what is fused is the compiler's choice."""
    return _block()


def must_fuse_call(identifier: str) -> Callable[[Function], Function]:
    """A decorator that returns its function."""
    return lambda f: f


def xla_metadata_call(f: Function | None = None, /, **metadata: Any) -> Any:
    """The function, or a decorator that returns it."""
    return xla_metadata_call if f is None else f


def xla_metadata_call2(
    f: Function | None = None, /, metadata: Any = None, *, ad_metadata: Any = "same"
) -> Any:
    """The function; called with metadata alone, a decorator that returns it."""
    return f if callable(f) else partial(_second, f)


def _second(metadata: Any, f: Function) -> Function:
    return f
