"""Generators of random bits: what one consists of, and which there are."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import ExtendedDType, extended, extended_dtype

GROUP = "bindax_random.v1"
"""The entry-point group in which packages offer generators: ``name = "module:object"``."""


class prng_key(extended):
    """The kind of the dtypes of random keys, for ``issubdtype``."""


@attrs.frozen(eq=False)
class PRNG:
    """A generator of random bits, and the form of its keys.

    The functions take the words of one key, and are traceable.

    Attributes:
        name: what ``key(seed, impl=name)`` calls it.
        tag: a short name, in the name of its dtype: ``key<tag>``.
        key_shape: the shape of the words of a key, uint32.
        seed: ``(seed) -> words``, from an unsigned integer of 32 or 64 bits.
        split: ``(words, shape) -> words``, of a whole array of new keys of a shape.
        random_bits: ``(words, bit_width, shape) -> bits``, unsigned integers of 8 to 64 bits.
        fold_in: ``(words, data) -> words``, of a new key that a uint32 number has gone into.

    >>> from bindax_random import key_impl, key
    >>> key_impl(key(0))
    'threefry2x32'
    """

    name: str
    tag: str
    key_shape: tuple[int, ...]
    seed: Callable[[Any], Any]
    split: Callable[[Any, tuple[int, ...]], Any]
    random_bits: Callable[[Any, int, tuple[int, ...]], Any]
    fold_in: Callable[[Any, Any], Any]
    dtype: ExtendedDType = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        dtype = extended_dtype(f"key<{self.tag}>", np.uint32, self.key_shape, prng_key)
        object.__setattr__(self, "dtype", dtype)

    def __repr__(self) -> str:
        return self.tag


@attrs.frozen(repr=False)
class PRNGSpec:
    """A generator that a program defines, for ``key(seed, impl=...)`` and what else takes a name.

    >>> from bindax_random import PRNGSpec, find_prng
    >>> PRNGSpec(find_prng("rbg"))
    PRNGSpec('rbg')
    """

    _impl: PRNG = attrs.field(validator=attrs.validators.instance_of(PRNG))

    def __repr__(self) -> str:
        return f"PRNGSpec({self._impl.name!r})"


_by_name: dict[str, PRNG] = {}
_by_dtype: dict[Any, PRNG] = {}
_specs: dict[str, PRNGSpec] = {}
_defining = threading.Lock()


def register_prng(prng: PRNG) -> None:
    """Make a generator known by its name; an entry point of the group does that by itself.

    Raises:
        ValueError: when the name or the tag is another generator's.
    """
    if not isinstance(prng, PRNG):
        raise TypeError(f"register_prng takes a PRNG, but got {prng!r:.80}.")
    for known in (_by_name.get(prng.name), _by_dtype.get(prng.dtype)):
        if known is not None and known is not prng:
            raise ValueError(
                f"the random generator {prng.name!r} with the tag {prng.tag!r} cannot be "
                f"registered: {known.name!r} with the tag {known.tag!r} is already."
            )
    _by_name[prng.name] = _by_dtype[prng.dtype] = prng


def define_prng_impl(
    *,
    key_shape: tuple[int, ...],
    seed: Callable[[Any], Any],
    split: Callable[[Any, tuple[int, ...]], Any],
    random_bits: Callable[[Any, int, tuple[int, ...]], Any],
    fold_in: Callable[[Any, Any], Any],
    name: str = "<unnamed>",
    tag: str = "?",
) -> PRNGSpec:
    """Define a generator of random bits for a program.

    A package that many programs use brings a ``PRNG`` by an entry point instead.

    Args:
        key_shape: the shape of the words of a key, uint32.
        seed: ``(seed) -> words``, from an unsigned integer of 32 or 64 bits.
        split: ``(words, shape) -> words``, of a whole array of new keys of a shape.
        random_bits: ``(words, bit_width, shape) -> bits``, unsigned integers of 8 to 64 bits.
        fold_in: ``(words, data) -> words``, of a new key that a uint32 number has gone into.
        name: what messages call it; a number is added to one that another generator has.
        tag: a short name, in the dtype of its keys; likewise.

    Returns:
        What ``key(seed, impl=...)`` and ``wrap_key_data`` take, and ``key_impl`` gives back.

    Raises:
        TypeError: when the name or the tag is no string, or what it does is no function.
        ValueError: when the shape has no axes, or one of size 0.

    >>> from bindax_random import bits, define_prng_impl, find_prng, key, key_impl
    >>> fry = find_prng("threefry2x32")
    >>> inverted = define_prng_impl(
    ...     key_shape=(2,), seed=fry.seed, split=fry.split, fold_in=fry.fold_in, name="inverted",
    ...     random_bits=lambda key, width, shape: ~fry.random_bits(key, width, shape), tag="not",
    ... )
    >>> key_impl(key(0, impl=inverted)), bool(bits(key(0, impl=inverted)) == ~bits(key(0)))
    (PRNGSpec('inverted'), True)
    """
    functions: dict[str, Any] = {
        "seed": seed,
        "split": split,
        "random_bits": random_bits,
        "fold_in": fold_in,
    }
    _check_definition(functions, {"name": name, "tag": tag})
    with _defining:
        prng = PRNG(
            name=_unused(name, {*_by_name, *[entry.name for entry in entry_points(group=GROUP)]}),
            tag=_unused(tag, {known.tag for known in _by_name.values()}),
            key_shape=tuple(key_shape),
            **functions,
        )
        register_prng(prng)
        return _specs.setdefault(prng.name, PRNGSpec(prng))


def _check_definition(functions: Mapping[str, Any], texts: Mapping[str, Any]) -> None:
    for argument, function in functions.items():
        if not callable(function):
            raise TypeError(
                f"define_prng_impl: {argument} must be a function, but is {function!r}."
            )
    for argument, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"define_prng_impl: {argument} must be a string, but is {text!r}.")


def _unused(name: str, taken: set[str]) -> str:
    """A name, with the first number that makes it another one than those."""
    numbered = itertools.chain([name], (f"{name}{number}" for number in itertools.count(2)))
    return next(one for one in numbered if one not in taken)


def spec_of(prng: PRNG) -> str | PRNGSpec:
    """The name of a generator for users, or the definition of one of a program."""
    return _specs.get(prng.name, prng.name)


def find_prng(spec: Any) -> PRNG:
    """The generator of a name, of what ``define_prng_impl`` gave, of a key dtype, or itself.

    Raises:
        ValueError: when no generator has the name.
        TypeError: when it is none of these.
    """
    if isinstance(spec, PRNG):
        return spec
    if isinstance(spec, PRNGSpec):
        return spec._impl
    if isinstance(spec, str):
        found = _by_name.get(spec) or _offered(spec)
        if found is None:
            names = sorted({*_by_name, *[entry.name for entry in entry_points(group=GROUP)]})
            raise ValueError(
                f"there is no random generator {spec!r}; installed are {', '.join(names)}."
            )
        return found
    if isinstance(spec, ExtendedDType) and issubclass(spec.type, prng_key):
        return prng_of(spec)
    raise TypeError(
        f"a random generator is named by a string or by the dtype of keys, but got {spec!r} of "
        f"type {type(spec).__name__}."
    )


def prng_of(dtype: Any) -> PRNG:
    """The generator of a dtype of keys."""
    found = _by_dtype.get(dtype)
    if found is None:
        for entry in entry_points(group=GROUP):
            if entry.name not in _by_name:
                _offered(entry.name)
        found = _by_dtype.get(dtype)
    if found is None:
        raise TypeError(f"the dtype {dtype} is not that of keys of an installed random generator.")
    return found


def _offered(name: str) -> PRNG | None:
    """The generator that an installed package offers under a name."""
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            module, _, attribute = entry.value.partition(":")
            prng: PRNG = getattr(import_module(module), attribute)
            register_prng(prng)
            return prng
    return None
