"""``jax.extend.linear_util``: functions with transformations around them, and what they leave."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache as _cache
from functools import partial, wraps
from typing import Any

__all__ = [
    "Callable",
    "Store",
    "StoreException",
    "WrappedFun",
    "cache",
    "merge_linear_aux",
    "transformation",
    "transformation2",
    "transformation_with_aux",
    "transformation_with_aux2",
    "wrap_init",
]


class StoreException(Exception):
    """A value that a transformation leaves was asked for before the function ran."""


class Store:
    """A place for one value that a transformation leaves."""

    def __init__(self) -> None:
        self._found: list[Any] = []

    def store(self, value: Any) -> None:
        """Leave a value; the same place takes an equal one again."""
        if self._found and self._found[0] != value:
            raise StoreException("a transformation left two different values.")
        self._found = [value]

    @property
    def val(self) -> Any:
        """The value."""
        if not self._found:
            raise StoreException("the function has not run yet, so nothing was left.")
        return self._found[0]

    def __bool__(self) -> bool:
        return bool(self._found)

    def reset(self) -> None:
        """Forget the value."""
        self._found = []


class WrappedFun:
    """A function with transformations around it.

    Attributes:
        f: the function itself.
        f_transformed: the function with the transformations.
        stores: the places of what they leave, the last first.
        params: parameters that belong to the function.
        debug_info: what messages say of it.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        f_transformed: Callable[..., Any],
        stores: tuple[Store, ...] = (),
        params: Any = (),
        debug_info: Any = None,
    ) -> None:
        self.f = f
        self.f_transformed = f_transformed
        self.stores = stores
        self.params = params
        self.debug_info = debug_info

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with the transformations."""
        return self.f_transformed(*args, **kwargs)

    def wrap(self, around: Callable[..., Any], store: Store | None = None) -> WrappedFun:
        """The function with one transformation more."""
        stores = self.stores if store is None else (store, *self.stores)
        made = partial(around, self.f_transformed)
        return WrappedFun(self.f, made, stores, self.params, self.debug_info)

    def with_unknown_names(self) -> WrappedFun:
        """The function itself: names of arguments are not kept."""
        return self

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", type(self.f).__name__)


def wrap_init(
    f: Callable[..., Any], params: dict[str, Any] | None = None, *, debug_info: Any = None
) -> WrappedFun:
    """A function that transformations can be put around."""
    given = {} if params is None else params
    return WrappedFun(
        f, partial(f, **given) if given else f, (), tuple(sorted(given.items())), debug_info
    )


def transformation2(around: Callable[..., Any], fun: WrappedFun, *given: Any) -> WrappedFun:
    """Put ``around(f, *given, *args)`` around a function."""
    return fun.wrap(lambda f, *args, **kwargs: around(f, *given, *args, **kwargs))


def transformation_with_aux2(
    around: Callable[..., Any], fun: WrappedFun, *given: Any, use_eq_store: bool = False
) -> tuple[WrappedFun, Callable[[], Any]]:
    """Put ``around(f, store, *given, *args)`` around a function; also what it leaves in store."""
    store = Store()
    made = fun.wrap(lambda f, *args, **kwargs: around(f, store, *given, *args, **kwargs), store)
    return made, lambda: store.val


def _driven(steps: Any, f: Callable[..., Any]) -> Any:
    """Run a transformation written as a generator: it yields arguments and gets the result."""
    args, kwargs = next(steps)
    return steps.send(f(*args, **kwargs))


def transformation(steps: Callable[..., Any], fun: WrappedFun, *given: Any) -> WrappedFun:
    """Put a transformation that is written as a generator around a function."""
    return fun.wrap(lambda f, *args, **kwargs: _driven(steps(*given, *args, **kwargs), f))


def transformation_with_aux(
    steps: Callable[..., Any], fun: WrappedFun, *given: Any, use_eq_store: bool = False
) -> tuple[WrappedFun, Callable[[], Any]]:
    """The same, of a generator that yields its result and a value that it leaves."""
    store = Store()

    def around(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        out, left = _driven(steps(*given, *args, **kwargs), f)
        store.store(left)
        return out

    return fun.wrap(around, store), lambda: store.val


def _curried(transform: Callable[..., Any]) -> Callable[..., Any]:
    """A transformation that waits for its function when it is used as a decorator."""

    @wraps(transform)
    def taking(around: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not args:
            return partial(transform, around)
        return transform(around, *args, **kwargs)

    return taking


transformation = _curried(transformation)
transformation2 = _curried(transformation2)
transformation_with_aux = _curried(transformation_with_aux)
transformation_with_aux2 = _curried(transformation_with_aux2)


def merge_linear_aux(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[bool, Any]:
    """The value that one of two functions left, with True if it was the first."""
    try:
        return True, first()
    except StoreException:
        return False, second()


def cache(call: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """A function that remembers its results, by wrapped function and arguments."""
    return _cache(call)
