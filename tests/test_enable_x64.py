"""The setting ``enable_x64``: True and False as JAX has them, ``"explicit"`` between."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax
from bindax_core.extend import subjaxprs

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("bfloat16", "float16", "float32", "float64", "complex64", "complex128")
NAMES = ("bool", *INTEGERS, *FLOATS)
PYTHON: dict[str, Any] = {"3": 3, "2.5": 2.5, "1j": 1j, "True": True}


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, name, name))


def ones(name: str) -> np.ndarray[Any, Any]:
    return np.ones(2, dtype_of(name))


SCALARS: dict[str, Any] = {**PYTHON, **{f"np.{name}": dtype_of(name).type(1) for name in NAMES}}


def kind(x: Any) -> str:
    """The dtypes, shapes and weak types of a result, as text."""
    if isinstance(x, tuple | list):
        return ", ".join(map(kind, x))
    if isinstance(x, np.dtype):
        return x.name
    return f"{np.dtype(x.dtype).name}{list(x.shape)}{'*' if getattr(x, 'weak_type', False) else ''}"


def promotions(m: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    np_ = m.numpy
    for a, b in itertools.product(NAMES, NAMES):
        yield f"{a} + {b}", lambda a=a, b=b: np_.asarray(ones(a)) + np_.asarray(ones(b))
        yield f"promote_types {a} {b}", lambda a=a, b=b: np_.promote_types(a, b)
    for a, (text, s) in itertools.product(NAMES, SCALARS.items()):
        yield f"{a} + {text}", lambda a=a, s=s: np_.asarray(ones(a)) + s
        yield f"{text} * {a}", lambda a=a, s=s: s * np_.asarray(ones(a))
        yield f"where {a} {text}", lambda a=a, s=s: np_.where(ones("bool"), ones(a), s)

    for a, (text, s) in itertools.product(("uint8", "int8", "float16"), SCALARS.items()):
        if text in ("3", "2.5", "np.int8", "np.int64", "np.float64"):
            yield f"{a} ** {text}", lambda a=a, s=s: np_.asarray(ones(a)) ** s


def made(m: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Arrays that are made, and functions of one NumPy array."""
    np_, key = m.numpy, m.random.key(0)
    for a in NAMES:
        x, d = ones(a), dtype_of(a)
        yield f"asarray {a}", lambda x=x: np_.asarray(x)
        yield f"asarray scalar {a}", lambda x=x: np_.asarray(x[0])
        yield f"asarray list {a}", lambda x=x: np_.asarray([x[0], 1])
        yield f"zeros {a}", lambda d=d: np_.zeros(2, d)
        yield f"astype {a}", lambda d=d: np_.ones(2).astype(d)
        yield f"convert {a}", lambda d=d: m.lax.convert_element_type(np.ones(2), d)
        yield f"full {a}", lambda x=x: m.lax.full((2,), x[0])
        yield f"zeros_like {a}", lambda x=x: np_.zeros_like(x)
        yield f"sum {a}", lambda x=x: np_.sum(x)
        yield f"mean {a}", lambda x=x: np_.mean(x)
        yield f"sin {a}", lambda x=x: np_.sin(x)
        yield f"set {a}", lambda x=x: np_.zeros(2).at[0].set(x[0])
        yield f"result_type {a}", lambda d=d: np_.result_type(d)
        yield f"dtype {a}", lambda a=a: np_.dtype(a)
        yield f"eval_shape {a}", lambda d=d: m.eval_shape(np_.abs, m.ShapeDtypeStruct((2,), d))
        if d.kind != "c":
            yield f"argmax {a}", lambda x=x: np_.argmax(x)
        if a != "bool":
            yield f"iota {a}", lambda d=d: m.lax.iota(d, 3)
            yield f"arange {a}", lambda d=d: np_.arange(3, dtype=d)
        if d.kind == "f":
            yield f"linspace {a}", lambda d=d: np_.linspace(0, 1, 3, dtype=d)
            yield f"normal {a}", lambda d=d: m.random.normal(key, (2,), d)
        if d.kind in "iu":
            yield f"randint {a}", lambda d=d: m.random.randint(key, (2,), 0, 3, d)
    for text, s in PYTHON.items():
        yield f"asarray {text}", lambda s=s: np_.asarray(s)
        yield f"sin {text}", lambda s=s: np_.sin(s)
        yield f"stack {text}", lambda s=s: np_.stack([s, s])
        yield f"sum {text}", lambda s=s: np_.sum(s)
    yield "arange", lambda: (np_.arange(3), np_.arange(3.0), np_.arange(np.int64(3)))
    yield "linspace", lambda: (np_.linspace(0, 1, 3), np_.eye(2), np_.indices((2, 2)))
    yield "random", lambda: (m.random.uniform(key), m.random.normal(key), m.random.bits(key))
    yield "integers", lambda: (m.random.randint(key, (2,), 0, 3), m.random.permutation(key, 3))
    yield "seed", lambda: (m.random.PRNGKey(2**40), m.random.split(m.random.PRNGKey(-1)))
    yield "positions", lambda: (np_.nonzero(ones("int8")), np_.argsort(ones("float64")))
    yield "quantile", lambda: (np_.quantile(np.arange(4), 0.5), np_.median(np.arange(4.0)))


def transformed(m: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    np_, wide = m.numpy, np.ones(3)
    for a in ("int64", "uint64", "float32", "float64", "complex128"):
        x = ones(a)
        yield f"jit {a}", lambda x=x: m.jit(lambda y: y * 2)(x)
        yield f"jit scalar {a}", lambda x=x: m.jit(lambda y: y * 2)(x[0])
        yield f"closure {a}", lambda x=x: m.jit(lambda y: y + x)(1)
        yield f"constant {a}", lambda x=x: m.jit(lambda: x)()
        yield f"vmap {a}", lambda x=x: m.vmap(lambda y: y + 1)(x)
        yield f"scanned {a}", lambda x=x: m.lax.scan(lambda c, y: (c + 1, y), 0, x)
        yield f"cond {a}", lambda x=x: m.lax.cond(True, lambda y: y, lambda y: -y, x)
    yield "grad", lambda: m.grad(lambda x: (x * x).sum())(wide)
    yield "grad of a number", lambda: m.grad(lambda x: x * x)(1.5)
    yield "jvp", lambda: m.jvp(np_.sin, (wide,), (wide,))
    yield "sums", lambda: m.lax.scan(lambda c, x: (c + x, c), np_.zeros(()), wide.astype("f"))
    yield "gammainc", lambda: m.jit(m.scipy.special.gammainc)(wide, wide)
    yield "solve", lambda: np_.linalg.solve(np.eye(3), wide)
    yield "fft", lambda: np_.fft.fft(wide)


def abstract(jax: Any, compute: Callable[[], Any]) -> Any:
    """The types of results without compiling; what needs values, or makes no array, is computed."""
    try:
        return jax.tree.leaves(jax.eval_shape(compute))
    except (TypeError, jax.errors.JAXTypeError):
        return compute()


@pytest.mark.parametrize("table", [promotions, made, transformed])
@pytest.mark.parametrize("x64", [False, True])
def test_types_are_those_of_jax(table: Any, x64: bool, jax_answers: Any) -> None:
    def types(m: Any) -> dict[str, str]:
        return {name: kind(compute()) for name, compute in table(m)}

    def staged(jax: Any) -> dict[str, str]:
        return {name: kind(abstract(jax, compute)) for name, compute in table(jax)}

    expected = jax_answers("types", staged, x64=x64)
    # A type does not depend on the backend, and to compile each operation takes longest.
    by_numpy = bindax.config.override(backend="numpy")
    with bindax.enable_x64(x64), by_numpy, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = types(bindax)
    assert found.keys() == expected.keys()
    wrong = {name: (found[name], theirs) for name, theirs in expected.items()}
    assert {name: pair for name, pair in wrong.items() if pair[0] != pair[1]} == {}


def has_wide(jaxpr: Any) -> bool:
    """Test for a value of 64 bits in a program."""
    atoms = [*jaxpr.invars, *jaxpr.constvars, *jaxpr.outvars]
    for eqn in jaxpr.eqns:
        atoms += [*eqn.invars, *eqn.outvars]
        if any(has_wide(inner.jaxpr) for _, inner in subjaxprs(eqn.params)):
            return True
    return any(atom.aval.dtype.name.removesuffix("128").endswith("64") for atom in atoms)


def test_programs_have_no_64_bits_when_disabled() -> None:
    def f(x: Any, n: Any) -> Any:
        y = jnp.where(x > np.float64(0.5), x * np.linspace(0, 1, 3), jnp.arange(3) / n)
        c, ys = lax.scan(lambda c, z: (c + np.sqrt(2) * z, c), jnp.zeros(()), np.ones(4))
        return y.sum() + c * ys[np.int64(1)] + jnp.std(np.arange(5)) + x.argmax()

    with bindax.enable_x64(False):
        several = bindax.make_jaxpr(bindax.vmap(f, (None, 0)))(np.ones(3), np.arange(1, 3))
        gradient = bindax.make_jaxpr(bindax.grad(bindax.jit(f)))(np.ones(3), 2)
        assert not has_wide(several.jaxpr)
        assert not has_wide(gradient.jaxpr)
    assert has_wide(bindax.make_jaxpr(jnp.sin)(np.ones(3)).jaxpr)


def test_integers_wrap_and_carries_agree_when_disabled() -> None:
    with bindax.enable_x64(False):
        assert int(bindax.jit(lambda x: x * 2)(2**30)) == -(2**31)
        total, _ = lax.scan(lambda c, x: (c + x, None), jnp.zeros(()), np.ones(3))
        assert (float(total), total.dtype) == (3.0, np.float32)
        assert np.isposinf(jnp.asarray(1e300))
        with pytest.raises(OverflowError, match=r"2147483648 does not fit into int32"):
            jnp.asarray(2**31)
        with pytest.raises(OverflowError, match=r"int32; use a float, or reduce it"):
            lax.neg(2**31)


def test_what_is_asked_for_and_disabled_is_warned_of() -> None:
    with bindax.enable_x64(False):
        with pytest.warns(UserWarning, match=r"float64 is asked for, but config.enable_x64 is F"):
            assert jnp.zeros(2, "float64").dtype == np.float32
        assert jnp.zeros(2, float).dtype == np.float32
        assert jnp.asarray(np.ones(2)).dtype == np.float32
        assert jnp.finfo("float64").bits == 64


def test_a_changed_setting_traces_again() -> None:
    seen = []
    f = bindax.jit(lambda x: seen.append(x.dtype.name) or x * 2)
    for mode in ("explicit", False, True, False):
        with bindax.enable_x64(mode):
            f(np.ones(2))
    assert seen == ["float64", "float32", "float64"]


def test_scalars_of_numpy_are_weak_in_explicit_mode() -> None:
    half, small = jnp.ones(2, "float16"), jnp.ones(2, "int8")
    for function in (lambda x, s: x * s, bindax.jit(lambda x, s: x * s)):
        assert function(half, np.sqrt(2)).dtype == np.float16
        assert function(small, np.int64(3)).dtype == np.int8
        assert function(half, np.float32(2)).dtype == np.float32
        assert function(half, np.array(2.0)).dtype == np.float64
    assert bindax.jit(lambda x: x * np.sqrt(2))(half).dtype == np.float16
    assert jnp.asarray(np.float64(2)).dtype == np.float32
    assert jnp.asarray(np.float64(2), "float64").dtype == np.float64
    total, _ = lax.scan(lambda c, x: (c + x, None), np.float64(0), half)
    assert total.dtype == np.float16
    with pytest.raises(OverflowError, match=r"300 does not fit into int8"):
        small + np.int64(300)


def test_the_setting_refuses_other_values() -> None:
    with pytest.raises(ValueError, match=r"enable_x64 must be one of 'explicit', True, False"):
        bindax.config.enable_x64 = "implicit"  # type: ignore[assignment]
    with bindax.config.override(enable_x64=True, default_dtype_bits=32):
        assert (bindax.config.dtype_bits, jnp.ones(1).dtype) == (64, np.float64)
    assert bindax.config.dtype_bits == 32


def test_the_environment_sets_it() -> None:
    code = "import numpy, bindax; print(bindax.config.enable_x64, bindax.typeof(numpy.ones(2)))"
    for text, expected in (("0", "False"), ("true", "True"), ("explicit", "explicit")):
        environment = {**os.environ, "BINDAX_ENABLE_X64": text}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith(expected)
        assert ("float32" in done.stdout) == (text == "0")


def test_each_line_that_asks_for_64_bits_is_warned_of_once() -> None:
    code = (
        "import numpy as np, bindax, bindax.numpy as jnp\n"
        "bindax.config.enable_x64 = False\n"
        "for _ in range(3):\n"
        "    x = jnp.zeros(3, 'float64')\n"
        "    y = jnp.asarray(np.ones(3))\n"
        "    z = x.astype('float64')\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.findall(r"^<string>:(\d+): UserWarning: float64 is", done.stderr, re.MULTILINE) == [
        "4",
        "6",
    ]
    assert done.stderr.count("UserWarning") == 2
