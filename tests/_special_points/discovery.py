"""The public functions of one, two or three numbers, or of a vector of two."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import bindax
import bindax.numpy as jnp

PACKAGES = {
    "numpy": bindax.numpy,
    "numpy.linalg": bindax.numpy.linalg,
    "nn": bindax.nn,
    "lax": bindax.lax,
    "optimizers": bindax.optimizers,
    "scipy.special": bindax.scipy.special,
    **{
        f"scipy.stats.{name}": member
        for name in dir(bindax.scipy.stats)
        if isinstance(member := getattr(bindax.scipy.stats, name), ModuleType)
    },
}
# Numbers in the domain of nearly every function.
_PROBES = (0.6, 0.4, 0.3)


class Subject(NamedTuple):
    """A function of numbers: ``call`` takes ``arity`` of them and returns one."""

    name: str
    call: Callable[..., Any]
    arity: int


def one_number(out: Any) -> Any:
    """A number made of all real parts of a result, each with its own weight."""
    total = 0.0
    for i, part in enumerate(bindax.tree_util.tree_leaves(out)):
        part = jnp.asarray(part)
        if jnp.issubdtype(part.dtype, jnp.complexfloating):
            part = part.real + 0.6 * part.imag
        if jnp.issubdtype(part.dtype, jnp.floating):
            weights = jnp.arange(1, part.size + 1, dtype=part.dtype).reshape(part.shape)
            total = total + jnp.sum(part * (weights + i))
    return total


def _answers(call: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    """Tell whether a function takes arguments, traced too, and returns doubles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            out = bindax.eval_shape(lambda *xs: one_number(call(*xs)), *arguments)
        except Exception:  # what is refused is none of these functions
            return False
    return bool(getattr(out, "dtype", None) == "float64")


def _arities(function: Callable[..., Any]) -> tuple[int, ...]:
    """Counts of numbers that a function may take: those that it requires."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1, 2, 3
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    return (required,) if 1 <= required <= 3 else (1, 2, 3)


def _subject(name: str, function: Callable[..., Any]) -> Subject | None:
    numbers = [jnp.float64(x) for x in _PROBES]
    for arity in _arities(function):
        if _answers(function, tuple(numbers[:arity])):
            return Subject(name, lambda *xs: one_number(function(*xs)), arity)
    if _answers(function, (jnp.stack(numbers[:2]),)):
        return Subject(name, lambda x, y: one_number(function(jnp.stack([x, y]))), 2)
    return None


def subjects() -> Iterator[Subject]:
    """Those that packages export, each object once."""
    seen: set[int] = set()
    for package, module in PACKAGES.items():
        names = getattr(module, "__all__", None) or dir(module)
        for name in sorted(name for name in set(names) if not name.startswith("_")):
            function = getattr(module, name)
            if not callable(function) or isinstance(function, type) or id(function) in seen:
                continue
            seen.add(id(function))
            found = _subject(f"{package}.{name}", function)
            if found is not None:
                yield found
