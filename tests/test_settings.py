"""Settings: configuration, environment variable and context manager, and the text of messages."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax
from bindax.errors import (
    NonFiniteError,
    TypePromotionError,
)
from bindax_core import Array

HERE = Path(__file__).name
X = np.array([-1.0, 2.0], np.float32)


def logarithm(x: Any) -> Any:
    y = lax.log(x)  # the line at fault
    return y + 1.0


LINE = f"{HERE}:{logarithm.__code__.co_firstlineno + 1} (logarithm"


def mapped(x: Any) -> Any:
    return lax.scan(lambda carry, a: (carry, logarithm(a)), 0.0, x)[1]


CALLS = {
    "eager": logarithm,
    "jit": bindax.jit(logarithm),
    "jit of jit": bindax.jit(lambda x: bindax.jit(logarithm)(x) * 2.0),
    "scan": mapped,
    "jit of scan": bindax.jit(mapped),
    "cond": bindax.jit(lambda x: lax.cond(x[0] < 0, logarithm, lambda x: x, x)),
    "vmap": bindax.vmap(bindax.jit(logarithm)),
    "jvp": lambda x: bindax.jvp(bindax.jit(logarithm), (x,), (x,)),
    "grad": bindax.grad(lambda x: bindax.jit(logarithm)(x).sum()),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_nan_names_the_primitive_and_the_line(name: str) -> None:
    with bindax.debug_nans(), pytest.raises(NonFiniteError) as caught:
        CALLS[name](X)
    message = str(caught.value)
    assert message.startswith("invalid value (nan) encountered in log: ")
    assert LINE in message
    assert message.endswith(". No operand has one. config.debug_nans looks for them.")
    assert isinstance(caught.value, FloatingPointError)


@pytest.mark.parametrize("name", ["eager", "jit", "jit of scan"])
def test_nothing_is_looked_for_afterwards(name: str) -> None:
    with bindax.debug_nans():
        CALLS[name](np.abs(X))
    assert np.isnan(CALLS[name](X)[0])


def test_an_infinity_is_found() -> None:
    zeros = jnp.zeros(3)
    with (
        bindax.debug_infs(),
        pytest.raises(
            NonFiniteError,
            match=re.escape(
                "invalid value (inf) encountered in div: 3 of the 3 elements of float32[3] at "
            ),
        ),
    ):
        bindax.jit(lambda x: 1 / x)(zeros)
    with bindax.debug_nans():
        assert np.isinf(bindax.jit(lambda x: 1 / x)(zeros)).all()


def test_numbers_that_a_function_names_are_no_mistakes() -> None:
    zeros = jnp.zeros((2, 3), "float32")
    with bindax.debug_infs(), bindax.debug_nans():
        for f in (bindax.nn.softmax, bindax.nn.logsumexp, lambda x: x.max(initial=-np.inf)):
            assert np.isfinite(f(zeros)).all()
        mask = jnp.array([True, False])
        attention = bindax.nn.dot_product_attention(*[zeros[:, None]] * 3, mask=mask)
        assert not attention.any()
        assert np.isfinite(jnp.where(zeros < 1, zeros, np.nan)).all()
        assert np.isnan(jnp.full((2, 3), np.nan)).all()
        for f in (jnp.median, jnp.nanvar, lambda x: bindax.scipy.linalg.expm(x[:2, :2])):
            assert np.isfinite(f(zeros)).all()
        batch = bindax.vmap(bindax.scipy.linalg.expm)(jnp.zeros((2, 3, 3)))
        assert np.isfinite(batch).all()


def test_functions_make_no_nan_that_they_do_not_return() -> None:
    zeros, special = jnp.zeros(3), bindax.scipy.special
    with bindax.debug_nans():
        assert np.isneginf(jnp.logaddexp(zeros - np.inf, -np.inf)).all()
        for f in (special.entr, special.xlogy, special.xlog1py):
            assert (f(*[zeros] * (1 if f is special.entr else 2)) == 0).all()
        assert np.isfinite(special.exp1(zeros + 1)).all()
        assert np.isfinite(special.expi(zeros + 1)).all()
        with pytest.raises(NonFiniteError, match=r"in select_n: 1 of the 2 elements"):
            jnp.where(jnp.array([True, False]), np.nan, jnp.ones(2))


def test_an_operand_with_a_nan_is_said() -> None:
    with bindax.debug_nans(), pytest.raises(NonFiniteError, match="An operand has one already"):
        jnp.asarray(np.float32(np.nan)) + 1


def test_bfloat16_and_complex_values_are_looked_at() -> None:
    with bindax.debug_nans():
        for dtype in (jnp.bfloat16, jnp.complex64):
            with pytest.raises(NonFiniteError):
                jnp.zeros(2, dtype) / jnp.zeros(2, dtype)
        assert jnp.arange(3).sum() == 3


@pytest.mark.skipif(bindax.default_backend() == "numpy", reason="interprets: nothing is donated")
def test_programs_that_gave_their_operands_away_say_so() -> None:
    f = bindax.jit(lambda x: lax.log(x), donate_argnums=0)
    x = bindax.device_put(jnp.asarray(X))
    with bindax.debug_nans(), pytest.raises(NonFiniteError, match="encountered in jit") as caught:
        f(x)
    assert "Its operands were donated, so it cannot run again: leave out" in str(caught.value)


def test_without_jit_functions_see_values() -> None:
    seen = []

    @bindax.jit
    def f(x: Any) -> Any:
        seen.append(type(x))
        return x + 1 if x > 0 else x

    with bindax.disable_jit():
        assert float(f(jnp.asarray(1.0))) == 2.0
        with bindax.disable_jit(False), pytest.raises(bindax.errors.TracerBoolConversionError):
            f(jnp.asarray(1.0))
    assert seen[0] is Array
    assert not bindax.config.disable_jit


LOOPS = {
    "cond": lambda x, see: lax.cond(x > 1, lambda y: see(y) * 2, lambda y: y, x),
    "switch": lambda x, see: lax.switch(5, [lambda y: y, lambda y: see(y) + 1], x),
    "while_loop": lambda x, see: lax.while_loop(lambda c: c < 9, lambda c: see(c) * 2, x),
    "fori_loop": lambda x, see: lax.fori_loop(1, 4, lambda i, c: see(c) * i, x),
    "scan": lambda x, see: lax.scan(
        lambda c, y: (see(c) + y["a"], {"b": (c * 2, y["a"])}),
        x,
        {"a": jnp.arange(3.0)},
        reverse=True,
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_without_jit_loops_run_in_python(name: str) -> None:
    seen: list[Any] = []

    def see(value: Any) -> Any:
        seen.append(value)
        return value

    x, loop = jnp.asarray(2.0), LOOPS[name]
    expected = loop(x, see)
    seen.clear()
    with bindax.disable_jit():
        found = loop(x, see)
        slope = bindax.jvp(lambda x: loop(x, see), (x,), (x,))[1]
        batched = bindax.vmap(lambda x: loop(x, lambda value: value))(jnp.ones(2))
    assert [type(one) for one in seen[:1]] == [Array]
    expected_slope = bindax.jvp(lambda x: loop(x, see), (x,), (x,))[1]
    expected_batch = bindax.vmap(lambda x: loop(x, see))(jnp.ones(2))
    pairs = ((expected, found), (expected_slope, slope), (expected_batch, batched))
    for one, other in pairs:
        assert bindax.tree.structure(one) == bindax.tree.structure(other)
        for a, b in zip(bindax.tree.leaves(one), bindax.tree.leaves(other), strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype


def test_default_bits_have_contexts() -> None:
    with bindax.enable_x64():
        assert jnp.arange(2).dtype == "int64"
        with bindax.disable_x64():
            assert jnp.arange(2).dtype == "int32"
        assert jnp.zeros(2).dtype == "float64"
    assert jnp.zeros(2).dtype == "float32"


def test_constants_are_computed_while_tracing() -> None:
    @bindax.jit
    def f(x: Any) -> Any:
        with bindax.ensure_compile_time_eval():
            size = int(jnp.sum(jnp.ones(3)))
            assert isinstance(x + 1, bindax.extend.Tracer)
        return x * jnp.ones(size)

    assert f(2.0).shape == (3,)


def test_scopes_name_equations_messages_and_compiled_operations() -> None:
    @bindax.named_call
    def layer(x: Any) -> Any:
        with bindax.named_scope("inner"):
            return lax.log(x)

    eqn = bindax.make_jaxpr(lambda x: layer(x))(X).jaxpr.eqns[-1]
    assert eqn.source_info.scope == "layer/inner"
    derived = bindax.make_jaxpr(bindax.grad(lambda x: bindax.jit(layer)(x).sum()))(X)
    assert "layer" in str([e.source_info for e in derived.jaxpr.eqns] + list(_inner(derived)))
    with bindax.debug_nans(), pytest.raises(NonFiniteError, match=r"\(layer, scope layer/inner\)"):
        bindax.jit(layer)(X)
    with pytest.raises(TypeError, match=r"named_scope takes the name as a string, but got 3\."):
        bindax.named_call(layer, name=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not empty"), bindax.named_scope(""):
        pass
    with pytest.raises(TypeError, match=r"fun of named_call must be a function, but got 'f'"):
        bindax.named_call("f")  # type: ignore[arg-type]


def _inner(closed: Any) -> Any:
    for eqn in closed.jaxpr.eqns:
        if "jaxpr" in eqn.params:
            yield from [e.source_info for e in eqn.params["jaxpr"].jaxpr.eqns]


@pytest.mark.skipif(bindax.default_backend() == "numpy", reason="compiles nothing")
def test_compiled_programs_carry_scopes() -> None:
    f = bindax.jit(bindax.named_scope("outer")(lambda x: lax.sin(x) * lax.cos(x)))
    assert "outer/" in f.lower(X).compile().as_text()


def test_compilations_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    def scaled(x: Any, *, k: Any = 1) -> Any:
        return x["a"] * k

    f = bindax.jit(scaled, static_argnames="k")
    with caplog.at_level(logging.WARNING, "bindax"), bindax.log_compiles():
        f({"a": X})
        f({"a": X})
    traced, compiled = [record.getMessage() for record in caplog.records]
    here = re.escape(f"{HERE}:{scaled.__code__.co_firstlineno}")
    assert re.search(rf"^jit of scaled \(.*{here}\) was traced for \(float32\[2\]\) in ", traced)
    assert re.search(rf"^jit of scaled \(.*{here}\) was compiled in [\d.]+ s\.$", compiled)


def test_tracing_and_running_can_be_forbidden() -> None:
    f = bindax.jit(lambda x: x * 2)
    f(X)
    with bindax.no_tracing():
        f(X)
        with pytest.raises(RuntimeError, match=r"traced, because x is float32\[1\], where float32"):
            f(X[:1])
    with bindax.no_execution():
        for call in (f, bindax.jit(lambda x: f(x) + 1)):
            with pytest.raises(RuntimeError, match=r"^jit of <lambda> .* but no_execution is set"):
                call(X)
        assert bindax.eval_shape(f, X).shape == (2,)
        f.lower(X)
    assert f(X).shape == (2,)


def test_values_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    @bindax.jit
    def f(x: Any) -> Any:
        bindax.debug.log("x = {} and {y}", x, y=x + 1)
        return x

    with caplog.at_level(logging.INFO, "bindax"):
        f(2)
        bindax.effects_barrier()
    assert [record.getMessage() for record in caplog.records] == ["x = 2 and 3"]
    with pytest.raises(TypeError, match=r"^debug\.log takes a format string first, but got 2; wri"):
        bindax.debug.log(2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"'\{\} \{\}' of debug\.log has the field 1, for whi"):
        bindax.debug.log("{} {}", 2)


def test_misses_are_explained(caplog: pytest.LogCaptureFixture) -> None:
    def scaled(x: Any, k: Any = 1) -> Any:
        return x["a"] * k

    f = bindax.jit(scaled, static_argnames="k")
    with caplog.at_level(logging.WARNING, "bindax"), bindax.explain_cache_misses():
        f({"a": X})
        f({"a": X})
        f({"a": X[:1]})
        f({"a": X}, k=2)
        f({"a": X}, k=3)
        f({"a": 2.0})
        f({"a": X, "b": X})
        with bindax.enable_x64():
            f({"a": X})
    known = bindax.tree.structure((({"a": X},), {}))
    structure = bindax.tree.structure((({"a": X, "b": X},), {}))
    whys = [record.getMessage().partition(" is traced: ")[2] for record in caplog.records]
    assert whys == [
        "no call of it is known.",
        "x['a'] is float32[1], where float32[2] is known.",
        "the static argument 'k' is 2, where none is known.",
        "the static argument 'k' is 3, where 2 is known.",
        "x['a'] is float64[] of weak type, where float32[1] is known.",
        f"the arguments have the structure {structure}, where {known} is known.",
        "config.enable_x64 is True, where 'explicit' is known.",
    ]
    assert f"called at {__file__}" in caplog.records[0].getMessage()


def test_caches_are_cleared() -> None:
    traces = []
    f = bindax.jit(lambda x: traces.append(x) or x)
    f(1.0)
    bindax.clear_caches()
    assert f.cache_info().size == 0
    f(1.0)
    assert len(traces) == 2


def test_live_arrays_are_listed() -> None:
    x = Array.from_numpy(np.ones(7))
    assert any(y is x for y in bindax.live_arrays())
    assert any(y is x for y in bindax.live_arrays("numpy"))
    assert not any(y is x for y in bindax.live_arrays("xla"))
    del x
    assert not any(y.shape == (7,) and y.dtype == "float64" for y in bindax.live_arrays())


@pytest.mark.parametrize(
    "name",
    ["debug_nans", "debug_infs", "disable_jit", "log_compiles", "no_tracing", "no_execution"],
)
def test_wrong_values_are_refused(name: str) -> None:
    message = (
        f"config.{name} must be one of False, True, but got 'yes'; it is set by assignment or by "
        f"the environment variable BINDAX_{name.upper()}."
    )
    with pytest.raises(ValueError, match=re.escape(message)), getattr(bindax, name)("yes"):
        pass


def test_nothing_stands_in_the_way_while_settings_are_off() -> None:
    from bindax_core.extend import EvalTrace, trace_state
    from bindax_transforms import JittedFunction

    plain = JittedFunction.__call__, JittedFunction._trace
    with bindax.debug_nans(), bindax.debug_infs(), bindax.log_compiles():
        assert trace_state.stack[0].trace_type is not EvalTrace
    assert trace_state.stack[0].trace_type is type(trace_state.stack[0].trace) is EvalTrace
    assert plain == (JittedFunction.__call__, JittedFunction._trace)


def test_environment_variables_turn_settings_on() -> None:
    program = (
        "import bindax, bindax_core, bindax.numpy as jnp\n"
        "f = bindax.jit(lambda x: x if type(x) is bindax_core.Array else 1 / 0)\n"
        "f(jnp.zeros(1))\n"
        "try: jnp.log(-jnp.ones(1))\n"
        "except FloatingPointError as error: print(error)\n"
    )
    env = {"BINDAX_DEBUG_NANS": "1", "BINDAX_DISABLE_JIT": "true", "BINDAX_BACKEND": "numpy"}
    out = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False
    )
    assert out.stdout.startswith("invalid value (nan) encountered in log: float32[1] at "), out


STRICT = {
    "bool": ("b", "bool"),
    "uint8": ("i", "uint8"),
    "int32": ("i", "int32"),
    "float32": ("i", "f", "float32"),
    "bfloat16": ("i", "f", "bfloat16"),
    "complex64": ("i", "f", "c", "complex64"),
}
"""What each dtype meets under strict promotion in JAX 0.10: Python scalars by letter, arrays."""


def test_strict_promotion_is_that_of_jax() -> None:
    others: dict[str, Any] = {"b": True, "i": 1, "f": 1.0, "c": 1j}
    others |= {name: jnp.zeros(2, name) for name in STRICT}
    for name, allowed in STRICT.items():
        for other, value in others.items():
            with bindax.numpy_dtype_promotion("strict"):
                if other in allowed:
                    assert (others[name] + value).dtype == name
                    continue
                with pytest.raises(TypePromotionError, match=r"numpy_dtype_promotion is 'strict'"):
                    jnp.add(others[name], value)
            jnp.add(others[name], value)
    with bindax.numpy_dtype_promotion("strict"):
        assert float(jnp.sin(jnp.mean(jnp.ones(3)) * 2) / 3) > 0
        with pytest.raises(TypeError, match=r"dtypes int32, float64 \(a scalar\) are diff"):
            jnp.arange(3) * 0.5


def test_ranks_are_promoted_or_not() -> None:
    matrix, vector = jnp.ones((2, 2)), jnp.ones(2)
    f = bindax.jit(lambda x, y: x + y)
    text = "arrays of the shapes (2, 2) and (2,) have different ranks, and config.numpy_rank_promo"
    f(matrix, vector)
    for call in (f, jnp.add, lambda x, y: y * x):
        with bindax.numpy_rank_promotion("raise"), pytest.raises(ValueError, match=re.escape(text)):
            call(matrix, vector)
    with bindax.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match=re.escape(text)):
        matrix + vector
    with bindax.numpy_rank_promotion("raise"):
        assert (f(matrix, matrix[:1]) + 1).shape == (2, 2)
    assert f(matrix, vector).shape == (2, 2)


def test_products_take_the_default_precision() -> None:
    x = jnp.ones((2, 2))
    f = bindax.jit(lambda x: x @ x)
    f(x)
    for product in (lambda x, y: x @ y, jnp.dot, lambda x, y: jnp.einsum("ij,jk->ik", x, y)):
        assert "HIGHEST" not in str(bindax.make_jaxpr(product)(x, x))
        with bindax.default_matmul_precision("highest"):
            assert "HIGHEST" in str(bindax.make_jaxpr(product)(x, x))
            assert "HIGHEST" in str(f.trace(x).jaxpr)
    third = np.full((2, 2), 1 / 3, np.float32)
    with bindax.default_matmul_precision("BF16_BF16_F32"):
        rounded = jnp.asarray(third) @ jnp.asarray(third)
    assert float(rounded[0, 0]) != pytest.approx(2 / 9, rel=1e-5)
    with pytest.raises(ValueError, match="got 'exact'"), bindax.default_matmul_precision("exact"):
        pass


def test_the_generator_of_keys() -> None:
    with bindax.default_prng_impl("rbg"):
        assert str(bindax.random.key(0).dtype) == "key<rbg>"
        assert bindax.random.PRNGKey(0).shape == (4,)
    assert str(bindax.random.key(0).dtype) == "key<fry>"
    with pytest.raises(ValueError, match="generator 'none'"), bindax.default_prng_impl("none"):
        pass


def test_guards_from_the_environment() -> None:
    code = (
        "import bindax; c = bindax.config; print(c.transfer_guard_host_to_device, "
        "c.transfer_guard_device_to_host, c.check_tracer_leaks, c.default_prng_impl)"
    )
    names = {
        "BINDAX_TRANSFER_GUARD": "log",
        "BINDAX_TRANSFER_GUARD_DEVICE_TO_HOST": "disallow",
        "BINDAX_CHECK_TRACER_LEAKS": "1",
        "BINDAX_DEFAULT_PRNG_IMPL": "rbg",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **names}, capture_output=True, text=True
    )
    assert done.stdout.split() == ["log", "disallow", "True", "rbg"]
