"""What a step of a random program works on: earlier values, constants, and random choices.

Steps are written once, against the names that ``bindax.lax`` and ``jax.lax`` share. Elements stay
of moderate size (`tame`), so that errors do not grow. What compares or rounds its operand moves
every element by another irrational amount first (`Operands.spread`): a maximum of equals, or the
integer below 2.0, depend on the last digit of how their operand was computed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import ml_dtypes
import numpy as np

T = TypeVar("T")
Step = Callable[["Operands"], Any]
Perturb = Callable[[tuple[int, int], Any], Any]

FLOATS = ("float64", "float32", "float16", "bfloat16")
COMPLEX = ("complex128", "complex64")
INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")
INEXACT = (*FLOATS, *COMPLEX)
LARGEST = 24  # elements of a value
HIGHEST = 3  # axes of a value
_INSIDE = 1000  # the place, for roundings, of what is no result of a step


def real_dtype(dtype: Any) -> np.dtype[Any]:
    """The type of the real part."""
    names = {"complex128": "float64", "complex64": "float32"}
    return named(names.get(str(dtype), str(dtype)))


def named(name: str) -> np.dtype[Any]:
    """A dtype by its name; the narrow ones are not NumPy's own."""
    return np.dtype(getattr(ml_dtypes, name, name))


def cast(ops: Any, x: Any, dtype: Any) -> Any:
    """Convert to another type, without an imaginary part or a sign that it does not have."""
    if str(x.dtype) in COMPLEX and str(dtype) not in COMPLEX:
        x = ops.real(x)
    if str(dtype).startswith("uint") and str(x.dtype) in FLOATS:
        x = ops.abs(x)
    return x if x.dtype == dtype else ops.convert_element_type(x, dtype)


def fit(ops: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Repeat or drop elements, until they fill a shape."""
    if x.shape == shape:
        return x
    size = math.prod(shape)
    if x.size == 0:
        return ops.full(shape, 0, x.dtype)
    flat = ops.tile(ops.reshape(x, (x.size,)), (-(-size // x.size),))
    return ops.reshape(ops.slice(flat, (0,), (size,)), shape)


def limited(ops: Any, x: Any) -> Any:
    """Not too many axes, nor too many elements."""
    if x.ndim > HIGHEST:
        x = ops.collapse(x, 0, x.ndim - HIGHEST + 1)
    while x.size > LARGEST:
        axis = x.shape.index(max(x.shape))
        x = ops.slice_in_dim(x, 0, x.shape[axis] // 2, axis=axis)
    return x


def tame(ops: Any, x: Any) -> Any:
    """Make elements smaller than √10, smoothly; small ones hardly change."""
    if str(x.dtype) not in INEXACT:
        return x
    if str(x.dtype) in FLOATS:
        return x * ops.rsqrt(x * x * 0.1 + 1.0)
    re, im = ops.real(x), ops.imag(x)
    return x * cast(ops, ops.rsqrt((re * re + im * im) * 0.1 + 1.0), x.dtype)


def constant(shape: tuple[int, ...], dtype: Any, low: float, high: float) -> Any:
    """Irrational numbers between two bounds, the same at each call."""
    waves = np.sin(np.arange(1.0, math.prod(shape) + 1.0) * 1.7).reshape(shape)
    return ((low + high) / 2 + (high - low) / 2 * waves).astype(dtype)


class Operands:
    """Earlier values for one step, and its random choices, which the seed decides.

    Attributes:
        api: ``bindax`` or ``jax``.
        ops: Its ``lax``.
        reverse: Whether reverse mode passes, which loops of unknown length do not allow.
        perturb: Changes the result of a step, as rounding does.
    """

    def __init__(
        self,
        api: Any,
        values: Sequence[Any],
        seed: int,
        reverse: bool,
        perturb: Perturb = lambda place, x: x,
    ) -> None:
        self.api, self.ops = api, api.lax
        self.values, self.reverse, self.perturb = list(values), reverse, perturb
        self._seed, self._random = seed, random.Random(seed)

    def inside(self, values: Sequence[Any], seed: int) -> Operands:
        """Operands for a step in the body of this one, with values of its own."""
        return Operands(self.api, values, seed, self.reverse, self.perturb)

    def results(self, out: Any) -> list[Any]:
        """What a step returned, of moderate size in every sense."""
        values = [limited(self.ops, x) for x in (out if isinstance(out, tuple | list) else [out])]
        return [
            self.perturb((self._seed, place), tame(self.ops, x)) if str(x.dtype) in INEXACT else x
            for place, x in enumerate(values)
        ]

    def rounded(self, x: Any) -> Any:
        """A value inside of a step whose rounding counts, since it cancels against another."""
        return self.perturb((self._seed, _INSIDE), x)

    # ------------------------------------------------------------------------------- choices

    def choice(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def number(self, low: int, high: int) -> int:
        """An integer, the bounds included."""
        return self._random.randint(low, high)

    def flag(self) -> bool:
        return self._random.random() < 0.5

    def axis(self, x: Any) -> int:
        return self._random.randrange(x.ndim)

    def permutation(self, n: int) -> list[int]:
        return self._random.sample(range(n), n)

    # ------------------------------------------------------------------------------- operands

    def pick(
        self,
        dtypes: Sequence[str] | None = None,
        *,
        rank: int = 0,
        empty: bool = True,
    ) -> Any:
        """An earlier value of some type and at least some axes, more often a recent one."""
        usable = [
            x
            for x in self.values
            if (dtypes is None or str(x.dtype) in dtypes) and (empty or x.size)
        ]
        if not usable:
            source = self._random.choice(
                [x for x in self.values if x.size] or [constant((3,), np.float32, -2.0, 2.0)]
            )
            x = self.convert(source, named(self._random.choice(list(dtypes or FLOATS))))
        else:
            x = self._random.choice(usable[-3:] if self._random.random() < 0.7 else usable)
        for _ in range(rank - x.ndim):
            x = self.ops.expand_dims(x, (self._random.randint(0, x.ndim),))
        return x

    def real(self, *, rank: int = 0, empty: bool = True) -> Any:
        return self.pick(FLOATS, rank=rank, empty=empty)

    def inexact(self, *, rank: int = 0, empty: bool = True) -> Any:
        return self.pick(INEXACT, rank=rank, empty=empty)

    def integer(self, *, rank: int = 0, empty: bool = True) -> Any:
        return self.pick(INTEGERS, rank=rank, empty=empty)

    def boolean(self, *, rank: int = 0, empty: bool = True) -> Any:
        return self.pick(("bool",), rank=rank, empty=empty)

    def wide(self, *, rank: int = 0, dtypes: Sequence[str] = (*FLOATS[:2], *COMPLEX)) -> Any:
        """A value, not empty, of a type that LAPACK and Fourier transforms know."""
        return self.pick(dtypes, rank=rank, empty=False)

    def like(self, x: Any) -> Any:
        """A value with the shape and type of another one."""
        same = [INEXACT, INTEGERS, ("bool",)]
        other = self.pick(next(names for names in same if str(x.dtype) in names))
        return fit(self.ops, cast(self.ops, other, x.dtype), x.shape)

    def index(self, size: int, *, outside: bool = False) -> Any:
        """A scalar integer that indexes an axis, perhaps computed, perhaps out of bounds."""
        i = fit(self.ops, cast(self.ops, self.integer(), np.dtype(np.int32)), ())
        low, high = (-size - 1, size + 1) if outside else (0, max(size - 1, 0))
        return self.ops.clamp(np.int32(low), i, np.int32(high))

    def spread(self, x: Any) -> Any:
        """Elements moved by different irrational amounts, so that none are equal or round."""
        if str(x.dtype) not in INEXACT:
            return x
        scale = constant(x.shape, x.dtype, 0.9, 1.1)
        return x * scale + constant(x.shape, x.dtype, -0.31, 0.27)

    def fixed(self, x: Any) -> Any:
        """A value without derivative, for functions that have none."""
        return self.ops.stop_gradient(x)

    def convert(self, x: Any, dtype: np.dtype[Any]) -> Any:
        """Another type: bounded numbers from integers, integers from what is not nearly one."""
        ops, of, to = self.ops, str(x.dtype), str(dtype)
        if to in INEXACT:
            if of in INTEGERS:
                x = ops.rem(x, np.asarray(7, x.dtype))
            return tame(ops, cast(ops, x, dtype))
        if of in INEXACT:
            x = self.spread(cast(ops, x, real_dtype(x.dtype)))
            return x > 0 if to == "bool" else cast(ops, x * 8.0, dtype)
        return cast(ops, x, dtype)
