"""Random keys: making them, splitting them, and the words that they consist of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NewType

import numpy as np

from bindax_core.extend import (
    Array,
    ExtendedDType,
    Primitive,
    Rule,
    ShapedArray,
    Tracer,
    as_array,
    config,
    primitive,
    rules,
    typeof,
    unwrapped,
)
from bindax_core.sharding import ambiguous
from bindax_lax_basic import convert_element_type, reshape
from bindax_lax_basic.extend import (
    batched,
    is_integer,
    leading_batch,
    no_derivative,
    shape_argument,
)
from bindax_random._divided import on_keys
from bindax_random._operands import is_arraylike, is_key, object_to_words
from bindax_random._prng import PRNG, PRNGSpec, find_prng, prng_of, register_prng, spec_of
from bindax_random._seeds import seed_array
from bindax_random.hashed_generators import PHILOX2X32, PHILOX4X32, THREEFRY4X32
from bindax_random.key_reuse import note_use, uses
from bindax_random.rbg import RBG, UNSAFE_RBG
from bindax_random.threefry_generator import THREEFRY
from bindax_transforms import vmap

Shape = tuple[int, ...]
Function = Callable[..., Any]
Key = NewType("Key", Array)
"""The type of arrays of keys, for annotations; it checks nothing."""

for _prng in (THREEFRY, RBG, UNSAFE_RBG, THREEFRY4X32, PHILOX2X32, PHILOX4X32):
    register_prng(_prng)


def _check_setting(name: str) -> None:
    try:
        find_prng(name)
    except ValueError as error:
        raise ValueError(f"config.default_prng_impl: {error}") from None


config.check("default_prng_impl", _check_setting)

# ------------------------------------------------------------------------------- making keys


def _chosen(name: str, impl: Any, dtype: Any) -> PRNG:
    if impl is not None and dtype is not None:
        raise ValueError(f"{name}: give impl or dtype, not both; they mean the same.")
    spec = dtype if impl is None else impl
    return find_prng(config.default_prng_impl if spec is None else spec)


def _seeded(name: str, seed: Any, prng: PRNG) -> Any:
    if is_key(seed):
        raise TypeError(f"{name} takes an integer as seed, but got a random key.")
    return _fresh(prng.seed(seed_array(name, seed)))


def _fresh(words: Any) -> Any:
    """Words of a key that is made, and may be used."""
    if uses.first is not None:
        uses.forget(words)
    return words


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Array:
    """Make a random key from an integer.

    Args:
        seed: an integer. With ``config.dtype_bits`` 32 its low 32 bits count, as in JAX.
        impl: the name of a generator: ``"threefry2x32"`` (the default), ``"threefry4x32"``,
            ``"philox2x32"``, ``"philox4x32"``, ``"rbg"``, ``"unsafe_rbg"``, or of a package; or
            what ``define_prng_impl`` gave.
        dtype: the dtype of keys of a generator, in place of ``impl``.

    Returns:
        A scalar array of the dtype of the generator's keys.

    Raises:
        TypeError: when the seed is no integer scalar.
        ValueError: when there is no such generator.

    >>> from bindax_random import key
    >>> key(42)
    Array((), dtype=key<fry>) overlaying:
    [ 0 42]
    """
    prng = _chosen("key", impl, dtype)
    return wrap(_seeded("key", seed, prng), prng)


def PRNGKey(seed: Any, *, impl: Any = None) -> Array:
    """Make an old-style key: the words alone, which say nothing of their generator.

    Args:
        seed: an integer.
        impl: the name of a generator.

    >>> from bindax_random import PRNGKey
    >>> PRNGKey(42)
    Array([ 0, 42], dtype=uint32)
    """
    return as_array(_seeded("PRNGKey", seed, _chosen("PRNGKey", impl, None)))


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Array:
    """Make keys of their words.

    Args:
        key_bits_array: uint32, with the axes of a key last.
        impl: the name of the generator.
        dtype: the dtype of its keys, in place of ``impl``.

    Raises:
        TypeError: when the words are not those of a key.

    >>> from bindax_random import key_data, key, wrap_key_data
    >>> wrap_key_data(key_data(key(3)))
    Array((), dtype=key<fry>) overlaying:
    [0 3]
    """
    return wrap(_fresh(key_bits_array), _chosen("wrap_key_data", impl, dtype))


def key_data(keys: Any) -> Array:
    """The words of keys, uint32 with the axes of a key last.

    >>> from bindax_random import key_data, key
    >>> key_data(key(3))
    Array([0, 3], dtype=uint32)
    """
    return unwrap(typed_keys("key_data", keys))


def key_impl(keys: Any) -> str | PRNGSpec:
    """The name of the generator of keys; what ``define_prng_impl`` gave for one of a program.

    >>> from bindax_random import key_impl, key
    >>> key_impl(key(3))
    'threefry2x32'
    """
    return spec_of(prng_of(typeof(typed_keys("key_impl", keys)).dtype))


def key_dtype(impl_spec: Any = None) -> ExtendedDType:
    """The dtype of the keys of a generator.

    Args:
        impl_spec: its name; the default generator for None.

    >>> from bindax_random import key_dtype
    >>> key_dtype("threefry2x32")
    key<fry>
    """
    return _chosen("key_dtype", impl_spec, None).dtype


def clone(key: Any) -> Array:
    """The same keys, which may be used once more where ``debug_key_reuse`` looks.

    >>> from bindax_random import clone, key
    >>> bool(clone(key(3)) == key(3))
    True
    """
    typed = typed_keys("clone", key)
    return _as_given(key, wrap(_fresh(unwrap(typed)), prng_of(typeof(typed).dtype)))


def split(key: Any, num: Any = 2) -> Array:
    """Make new keys of one.

    Args:
        key: a key, which should not be used for anything else.
        num: how many keys, or the shape of the array of them.

    Returns:
        Keys of that shape; old-style ones for an old-style key.

    >>> from bindax_random import key, split
    >>> split(key(0))
    Array((2,), dtype=key<fry>) overlaying:
    [[1797259609 2579123966]
     [ 928981903 3453687069]]
    """
    typed = single_key("split", key)
    return _as_given(key, random_split_p.bind(typed, shape=shape_argument("split", num, "num")))


def fold_in(key: Any, data: Any) -> Array:
    """Make a new key of a key and an integer.

    Args:
        key: a key.
        data: an integer scalar; of an array its low 32 bits count.

    Raises:
        OverflowError: when a Python integer does not fit into uint32.
        TypeError: when ``data`` is no integer, or no scalar.

    >>> from bindax_random import fold_in, key
    >>> fold_in(key(0), 1)
    Array((), dtype=key<fry>) overlaying:
    [ 928981903 3453687069]
    """
    typed = single_key("fold_in", key)
    if isinstance(data, (int, np.integer)):
        if isinstance(data, int) and not 0 <= data < 1 << 32:
            raise OverflowError(f"fold_in: data {data} does not fit into uint32.")
        word: Any = np.array(int(data) & 0xFFFFFFFF, np.uint32)
    else:
        aval = typeof(data)
        if aval.shape:
            raise TypeError(
                f"fold_in takes a scalar as data, but got an array of shape {aval.shape}; use vmap "
                f"for many."
            )
        if not (is_integer(aval.dtype) or aval.dtype == np.bool_):
            raise TypeError(f"fold_in takes an integer as data, but got {aval.str_short()}.")
        word = convert_element_type(data, np.uint32)
    return _as_given(key, random_fold_in_p.bind(typed, word))


# ----------------------------------------------------------------------------- keys as arguments


def typed_keys(name: str, keys: Any) -> Any:
    """An argument as typed keys: an old-style key is one of the default generator."""
    if is_key(keys) or is_key(keys := unwrapped(keys)):
        return keys
    if not is_arraylike(keys):
        hint = ""
        if isinstance(keys, (int, float)):
            hint = f" A seed becomes one with random.key({keys!r})."
        raise TypeError(
            f"{name} takes a random key, but got {keys!r:.60} of type {type(keys).__name__}.{hint}"
        )
    typed = wrap(keys, _chosen(name, None, None), name)
    if config.legacy_prng_key != "allow":
        object_to_words(name, keys)
    return typed


def single_key(name: str, key: Any) -> Any:
    """An argument as one typed key, of which a use is noted."""
    typed = typed_keys(name, key)
    if typed.aval.shape:
        raise ValueError(
            f"{name} takes a single key, but got an array of keys of shape {typed.aval.shape}; use "
            f"vmap for many."
        )
    if uses.first is not None and name != "fold_in":
        note_use(name, unwrap(typed))
    return typed


def _as_given(key: Any, typed: Any) -> Any:
    """New keys in the style of the key that they were made of."""
    return typed if is_key(key) else unwrap(typed)


def wrap(words: Any, prng: PRNG, name: str = "wrap_key_data") -> Any:
    """Typed keys of words."""
    aval = typeof(words)
    rank = len(prng.key_shape)
    if aval.dtype != np.uint32 or aval.shape[len(aval.shape) - rank :] != prng.key_shape:
        sizes = ", ".join(map(str, prng.key_shape))
        raise TypeError(
            f"{name}: the words of keys of the generator {prng.name} are uint32[..., {sizes}], but "
            f"got {aval.str_short()}. A seed becomes a key with random.key(seed)."
        )
    return random_wrap_p.bind(words, prng=prng)


def unwrap(keys: Any) -> Any:
    """The words of typed keys."""
    return random_unwrap_p.bind(keys)


def _wrap_type(words: ShapedArray, *, prng: PRNG) -> ShapedArray:
    return ShapedArray(words.shape[: -len(prng.key_shape)], prng.dtype.dtype)


def _wrap_sharding(primitive: Primitive, words: ShapedArray, *, prng: PRNG) -> tuple[Any, ...]:
    count = words.ndim - len(prng.key_shape)
    if any(words.sharding.spec[count:]):
        raise ambiguous(primitive, "has keys that are divided along their words", [words])
    return tuple(words.sharding.spec[:count])


def _unwrap_type(keys: ShapedArray) -> ShapedArray:
    prng_of(keys.dtype)
    return keys.physical()


def _logical(words: Any, prng: PRNG) -> Any:
    """Typed keys that share the memory of their words."""
    words = as_array(words)
    if isinstance(words, Tracer):
        return random_wrap_p.bind(words, prng=prng)
    shape = words.shape[: -len(prng.key_shape)]
    return Array.of_physical(ShapedArray(shape, prng.dtype.dtype), words)


_OF_EACH_KEY = batched(0)


def _on_keys(
    name: str,
    impl: Function,
    abstract_eval: Function,
    physical: Function,
    sharding: Rule = _OF_EACH_KEY,
) -> Primitive:
    """A primitive that takes or gives keys; it is evaluated on values, compiled on words."""
    return primitive(
        name,
        on_keys(impl),
        rules.abstract_eval(abstract_eval),
        no_derivative(),
        leading_batch(),
        rules.transpose.absent("keys have no cotangents"),
        rules.physical(physical),
        rules.lowering["stablehlo"].absent("compilers are given the words of keys"),
        sharding,
    )


random_wrap_p: Primitive = _on_keys(
    "random.wrap",
    lambda words, *, prng: [_logical(words, prng)],
    _wrap_type,
    lambda avals, words, *, prng: [words],
    rules.sharding(_wrap_sharding, takes_primitive=True),
)
"""Keys of their words. Parameter: ``prng``, their generator."""

random_unwrap_p: Primitive = _on_keys(
    "random.unwrap", lambda keys: [keys.physical()], _unwrap_type, lambda avals, words: [words]
)
"""The words of keys."""

# --------------------------------------------------------- what generators do, for many keys


def _each(function: Function, batch: Shape, *operands: Any) -> Any:
    """A function of the words of one key, for an array of keys."""
    if not batch:
        return function(*operands)
    rank = len(batch)
    flat = [reshape(x, (math.prod(batch), *x.shape[rank:])) for x in operands]
    out = vmap(function)(*flat)
    return reshape(out, (*batch, *out.shape[1:]))


def _split_words(keys: ShapedArray, words: Any, *, shape: Shape) -> Any:
    prng = prng_of(keys.dtype)
    return _each(lambda key: prng.split(key, shape), keys.shape, words)


def _split_type(keys: ShapedArray, *, shape: Shape) -> ShapedArray:
    prng_of(keys.dtype)
    return keys.update(shape=(*keys.shape, *shape))


def _split_impl(keys: Any, *, shape: Shape) -> list[Any]:
    words = _split_words(keys.aval, keys.physical(), shape=shape)
    return [_logical(words, prng_of(keys.aval.dtype))]


random_split_p: Primitive = _on_keys(
    "random.split",
    _split_impl,
    _split_type,
    lambda avals, words, **params: [_split_words(avals[0], words, **params)],
)
"""For each key an array of new ones. Parameter: ``shape``, of each array."""


def _fold_in_words(keys: ShapedArray, words: Any, data: Any) -> Any:
    return _each(prng_of(keys.dtype).fold_in, keys.shape, words, data)


def _fold_in_type(keys: ShapedArray, data: ShapedArray) -> ShapedArray:
    prng_of(keys.dtype)
    if data.dtype != np.uint32 or data.shape != keys.shape:
        raise TypeError(
            f"random.fold_in takes keys and uint32 numbers of one shape, but got "
            f"{keys.str_short()} and {data.str_short()}."
        )
    return keys


def _fold_in_impl(keys: Any, data: Any) -> list[Any]:
    words = _fold_in_words(keys.aval, keys.physical(), as_array(data))
    return [_logical(words, prng_of(keys.aval.dtype))]


random_fold_in_p: Primitive = _on_keys(
    "random.fold_in",
    _fold_in_impl,
    _fold_in_type,
    lambda avals, words, data: [_fold_in_words(avals[0], words, data)],
    batched(0, 0),
)
"""For each key and number a new key."""


def _bits_words(keys: ShapedArray, words: Any, *, bit_width: int, shape: Shape) -> Any:
    prng = prng_of(keys.dtype)
    return _each(lambda key: prng.random_bits(key, bit_width, shape), keys.shape, words)


def _bits_type(keys: ShapedArray, *, bit_width: int, shape: Shape) -> ShapedArray:
    prng_of(keys.dtype)
    return ShapedArray((*keys.shape, *shape), f"uint{bit_width}")


random_bits_p: Primitive = _on_keys(
    "random.bits",
    lambda keys, **params: [as_array(_bits_words(keys.aval, keys.physical(), **params))],
    _bits_type,
    lambda avals, words, **params: [_bits_words(avals[0], words, **params)],
)
"""For each key random bits. Parameters: ``bit_width``, of a number; ``shape``, of the numbers."""
