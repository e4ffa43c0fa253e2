"""Calls with unusual arguments, beside JAX's: the values, dtypes and weak types, or the error.

Each line was once refused, or answered otherwise.
"""

from __future__ import annotations

import types
import warnings
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import config

for package in ("nn", "numpy", "random"):
    pytest.importorskip(f"bindax_{package}", reason="the package is not installed")

F = np.array([1.0, 2.0, 3.0], np.float32)
I = np.array([1, 2, 3], np.int32)
C = np.array([1 + 2j, 3 - 1j, np.nan], np.complex64)
NONE = np.zeros(0, np.float32)
NOTHING = np.zeros((0, 2), np.int32)
MATRIX = np.array([[2.0, 1.0, 0.5], [-1.0, 3.0, 0.25], [4.0, 0.5, -2.0]])
TYPE = types.SimpleNamespace(shape=(3,), dtype=np.dtype(np.int32))
FLOATS = types.SimpleNamespace(shape=(3,), dtype="float32")

CALLS: dict[str, str] = {
    "lists in updates": """
        a(F).at[:2].set([5, 6])
        a(F).at[:2].set((5.5, 6.5))
        a(I).at[:2].add([5, 6])
        a(F).at[np.array([0, 2])].multiply([[5], [6]][0])
        a(F).at[:2].subtract([5, True])
        a(F).at[:2].divide([2, 4])
        a(F).at[:2].power([2, 3])
        a(F).at[:2].min([0, 5])
        a(F).at[:2].set([a(F)[2], 4])
        a(F).at[0].set([])
        a(F).at[:2].set([1, 2, 3])
        a(F).at[0].set(None)
        a(F).at[0].set("a")
        a(F).at[0].set({1})
        n.add.at(a(F), a([0, 0]), [1, 2], inplace=False)""",
    "weak types": """
        n.nan_to_num(2.5)
        n.nan_to_num(2j)
        n.nan_to_num(3)
        n.nan_to_num(n.asarray(2.5))
        n.choose(0, [2.5, 3.5])
        n.choose(0, [n.asarray(2.5)] * 2)
        n.choose(a([0, 1]), [2, 3])
        n.choose(a([0, 1]), [2.5, a(F)[:2]])
        n.choose(0, [2.5, a(F).astype("float16")])
        n.clip(2.5, 0, 1)
        n.clip(3, 0.0, 1.0)
        n.clip(n.asarray(3), 0, 1)
        n.clip(a(F).astype("float16"), 0.0, 1)
        m.nn.gelu(2.5)
        m.nn.gelu(2)
        m.nn.gelu(True)
        m.nn.gelu(n.asarray(2.5), approximate=False)
        m.nn.gelu(a(F).astype("bfloat16"))
        n.asarray(2.5).at[()].set(1)
        n.asarray(2.5).at[()].set(a(F)[0])
        n.asarray(3).at[()].add(a(I)[0])
        a(F).at[0].set(n.asarray(2.5))
        n.broadcast_to(n.asarray(2.5), (2,)).at[0].max(3)""",
    "ufuncs of nothing": """
        n.logical_or.accumulate(a(NONE))
        n.logical_and.accumulate(a(NOTHING))
        n.logical_xor.accumulate(a(NOTHING), axis=1)
        n.logical_or.accumulate(a(I)[:1])
        n.logical_xor.reduce(a(NONE))
        n.logical_or.reduce(a(NOTHING), axis=0)
        n.logical_xor.reduce(a(I)[:1])
        n.subtract.accumulate(a(NONE))
        n.maximum.reduce(a(NONE))
        n.maximum.reduce(a(NONE), initial=2)
        n.minimum.reduce(a(I), where=a(I) > 1, initial=9)
        n.add.reduce(a(NOTHING), axis=0, initial=3)
        n.multiply.reduce(a(NOTHING), axis=1, keepdims=True)
        n.bitwise_and.reduce(a(NOTHING), axis=0)
        n.add.reduceat(a(NONE), a([0]))
        n.add.reduceat(a(F), n.zeros(0, int))
        n.add.outer(a(NONE), a(F))
        n.add.at(a(F), n.zeros(0, int), 1.0, inplace=False)
        n.subtract.reduce(a(NONE))""",
    "grids of mixed steps": """
        n.ogrid[0:1:3j, 0:2]
        n.ogrid[0:1:0.5, 0:2]
        n.ogrid[0:2, 0:3:2]
        n.mgrid[0:1:3j, 0:2]
        n.ogrid[0:1:3j]""",
    "complex numbers": """
        n.nanvar(a(C))
        n.nanstd(a(C), ddof=1)
        n.nanvar(a(C)[None], axis=0)
        n.nanmean(a(C))
        n.clip(a(C), 0, 1)
        a(C).clip(0, 1)
        n.floor(a(C))
        n.nanmedian(a(C))
        n.logaddexp(a(C), a(C))
        n.logaddexp(a(C), a(F))
        n.logaddexp(a(C), 700 + 3j)
        n.logaddexp2(a(C), 2.5)
        n.logaddexp.reduce(a(C)[:2])
        m.jacfwd(lambda x: n.logaddexp(x, 0.5 + 1j), holomorphic=True)(a(C)[:2])
        r.lognormal(k, dtype="complex64")
        r.lognormal(k, 0.5, (3,), "complex128")""",
    "interpolation": """
        n.interp(a([-1.0, 5.0]), a(F), a(F) ** 2, left="extrapolate")
        n.interp(a([-1.0, 2.5, 5.0]), a(F), a(F) ** 2, "extrapolate", "extrapolate")
        n.interp(a([-1.0, 5.0]), a(F), a(F) ** 2, right="linear")
        n.interp(a([-1.0, 5.0]), a(F), a(F) ** 2, left=-7)""",
    "determinants": """
        n.linalg.slogdet(a(MATRIX), method="lu")
        n.linalg.slogdet(a(MATRIX), method="qr")
        n.linalg.slogdet(n.stack([a(MATRIX), -a(MATRIX)]), method="qr")
        n.linalg.slogdet(a(MATRIX), method="svd")
        m.grad(lambda x: n.linalg.slogdet(x, method="qr")[1])(a(MATRIX))""",
    "one_hot": """
        m.vmap(lambda x: m.nn.one_hot(x, 3, axis="i"), axis_name="i")(a([0, 2, 1]))
        m.vmap(lambda x: m.nn.one_hot(a(I), 3, axis="i"), axis_name="i")(a(I))
        m.vmap(lambda x: m.nn.one_hot(x, 4, axis="i"), axis_name="i")(a([0, 2, 1]))
        m.nn.one_hot(a(I), 3, axis="i")""",
    "transposes": """
        m.linear_transpose(lambda x: 2 * x, a(I))(a(I))
        m.linear_transpose(lambda x: x[::2] * 3, TYPE)(a(I)[:2])
        m.linear_transpose(lambda x, y: (x + y, x - 2 * y), a(I), a(I))((a(I), a(I)))
        m.linear_transpose(lambda x: 2 * x, FLOATS)(a(F))
        m.linear_transpose(lambda x: 2 * x, a(I))(a(F))
        m.linear_transpose(lambda x: 2 * x, object())""",
    "classes of errors": """
        a(I)[{}]
        a(I)[{1}]
        a(I)[object()]
        a(I)["a"]
        a(I)[1.0]
        a(I)[[1.0]]
        a(I)[b"a"]
        a(I)[0, 0]
        a(I)[..., ...]
        a(I).at[{}].set(1)
        a(F).reshape((5, -1))
        a(F).reshape((-1, -1))
        a(F).reshape(5)
        a(F).reshape("a")
        a(F).reshape(1.5)
        n.reshape(a(F), (5, -1))
        a(F) @ a(F)[0]
        n.matmul(a(F), a(F)[0])
        n.arange(1, 2, 0)
        n.split(a(F), 0)
        n.split(a(F), 2)
        n.pad(a(F), "a")
        n.pad(a(F), 1.5)
        n.pad(a(F), -1)
        a(F).transpose(1)
        a(F).sum(axis=1)
        a(F).squeeze(0)
        a(F).astype("bogus")
        a(F).item()
        len(a(F)[0])
        hash(a(F))
        n.concatenate([])
        n.concatenate([a(F), a(F)[0]])
        n.stack([])
        n.zeros("a")
        n.eye("a")
        n.linspace(0, 1, -1)
        n.einsum("ij", a(F))
        n.broadcast_to(a(F), (2,))
        n.max(a(NONE))
        n.argmax(a(NONE))
        n.bitwise_and(a(F), a(F))
        n.sin("a")
        n.sin(None)
        n.sin([1, 2])
        n.add(a(F), [1, 2, 3])
        n.searchsorted(a(F), 1, side="x")
        n.repeat(a(F), "a")
        n.cross(a(F), n.ones(4))""",
}  # fmt: skip
RANDOM: dict[str, tuple[Any, ...]] = {
    "ball": (3,), "beta": (2.0, 0.5), "cauchy": (), "chisquare": (3.0,),
    "dirichlet": (np.ones(3, np.float16),), "double_sided_maxwell": (0.5, 2.0), "exponential": (),
    "f": (3.0, 5.0), "gamma": (0.5,), "generalized_normal": (1.5,), "gumbel": (), "laplace": (),
    "loggamma": (0.5,), "logistic": (), "lognormal": (0.5,), "maxwell": (),
    "pareto": (2.5,), "rayleigh": (1.5,), "t": (3.0,),
    "triangular": (-1.0, 0.5, 2.0), "truncated_normal": (-1.0, 1.0), "uniform": (),
    "wald": (1.5,), "weibull_min": (1.5, 2.5),
}  # fmt: skip
DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "bool")


def outcome(call: Any) -> Any:
    """The arrays that a call gives, or the classes of its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tree_leaves_of(call())
    except Exception as error:
        return "|".join(one.__name__ for one in type(error).__mro__)


def tree_leaves_of(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for one in value for leaf in tree_leaves_of(one)]
    return [value]


def names(m: Any) -> dict[str, Any]:
    """Names that the calls are made of, for JAX or for bindax."""
    given = {"m": m, "n": m.numpy, "r": m.random, "a": m.numpy.asarray, "k": m.random.key(0)}
    return {**globals(), **given}


@pytest.mark.parametrize("topic", CALLS)
def test_calls(topic: str, jax_answers: Any) -> None:
    calls = [line.strip() for line in CALLS[topic].strip().splitlines()]

    def computed(m: Any) -> list[Any]:
        known = names(m)
        return [outcome(lambda call=call: eval(call, known)) for call in calls]

    wanted = jax_answers.each(calls, computed)
    with config.override(enable_x64=True):
        got = computed(bindax)
    for call, one, answer in zip(calls, got, wanted, strict=True):
        if isinstance(answer, str):
            assert isinstance(one, str), (call, one, answer)
            assert answer.partition("|")[0] in one.split("|"), (call, one, answer)
            continue
        assert not isinstance(one, str), (call, one, answer)
        for x, y in zip(one, answer, strict=True):
            assert (x.dtype, x.shape, x.weak_type) == (y.dtype, y.shape, y.weak_type), (call, x, y)
            np.testing.assert_allclose(
                np.asarray(x, complex),
                np.asarray(y.array, complex),
                2e-2 if x.dtype.itemsize < 4 else 1e-5,
                1e-6,
                err_msg=call,
            )


@pytest.mark.every(6)
@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_have_the_dtype_that_is_asked_for(name: str, jax_answers: Any) -> None:
    def types(m: Any) -> list[Any]:
        function, key = getattr(m.random, name), m.random.key(0)
        calls = [lambda d=d: function(key, *RANDOM[name], dtype=d) for d in DTYPES]
        found = [outcome(lambda call=call: m.eval_shape(call)) for call in calls]
        return [one if isinstance(one, str) else str(one[0].dtype) for one in found]

    wanted = jax_answers.each(DTYPES, types)
    with config.override(enable_x64=True):
        for dtype, one, answer in zip(DTYPES, types(bindax), wanted, strict=True):
            assert one == answer or answer.partition("|")[0] in one.split("|"), (dtype, one, answer)


PADDING: dict[str, dict[str, Any]] = {
    "constant": {"constant_values": 7},
    "edge": {},
    "wrap": {},
    "reflect": {},
    "symmetric": {"reflect_type": "odd"},
}


@pytest.mark.parametrize("mode", PADDING)
def test_pad_by_a_symbolic_width(mode: str) -> None:
    export = pytest.importorskip("bindax.export", reason="the package is not installed")
    pytest.importorskip("jaxlib", reason="programs are exported with XLA")
    b, wide = export.symbolic_shape("b, 2 * b + 1", scope=export.SymbolicScope())

    def padded(x: Any) -> Any:
        return bindax.numpy.pad(x, ((wide, 1), (b, 0)), mode, **PADDING[mode])

    program = export.export(bindax.jit(padded))(bindax.ShapeDtypeStruct((b, 2), np.float32))
    for n in (1, 3):
        x = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
        wanted = np.pad(x, ((2 * n + 1, 1), (n, 0)), mode, **PADDING[mode])
        np.testing.assert_array_equal(program.call(x), wanted)


def test_what_the_errors_tell() -> None:
    n = bindax.numpy
    told = {
        r"interp: right must be None, a number or 'extrapolate', but it is 'x'": lambda: n.interp(
            n.ones(2), n.ones(2), n.ones(2), right="x"
        ),
        r"slogdet: method must be None, 'lu' or 'qr', but it is 'x'": lambda: n.linalg.slogdet(
            n.eye(2), method="x"
        ),
        r"size of the axis 'i', 3, but it is 4": lambda: bindax.vmap(
            lambda x: bindax.nn.one_hot(x, 4, axis="i"), axis_name="i"
        )(I),
        r"add.reduceat: there are indices, but axis 0 has no elements": lambda: n.add.reduceat(
            n.zeros(0), n.array([0])
        ),
    }
    for text, call in told.items():
        with pytest.raises((ValueError, IndexError), match=text):
            call()
