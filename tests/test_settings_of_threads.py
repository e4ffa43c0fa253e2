"""What settings of ``with`` blocks do in threads: evaluation, debugging, compilers' threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import random
from bindax.errors import NonFiniteError, TransferError


@contextmanager
def elsewhere(block: Any) -> Iterator[None]:
    """Have another thread be inside a block."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(block.__enter__).result()
        try:
            yield
        finally:
            pool.submit(block.__exit__, None, None, None).result()


def in_thread(function: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_dtypes_are_those_of_the_thread() -> None:
    f = bindax.jit(lambda x: x + 1)

    def dtypes() -> list[str]:
        values = (f(1.5), jnp.ones(2), jnp.asarray(np.ones(2)), f(np.ones(2)), jnp.sin(1.0))
        mixed = (jnp.ones(2, "int32") + 1.5, jnp.ones(2, "float32") + np.float64(1))
        return [str(x.dtype) for x in (*values, *mixed)]

    expected = {}
    for mode in ("explicit", True, False):
        with bindax.config.override(enable_x64=mode):
            expected[mode] = dtypes()
    assert len({tuple(one) for one in expected.values()}) == 3
    here = dtypes()
    with elsewhere(bindax.enable_x64(False)):
        assert dtypes() == here
        with bindax.enable_x64(True):
            assert dtypes() == expected[True]
            assert in_thread(dtypes) == here
        with bindax.enable_x64(False):
            assert dtypes() == expected[False]


def test_strict_promotion_is_that_of_the_thread() -> None:
    x, y = jnp.ones(2, "float32"), jnp.ones(2, "float16")
    with elsewhere(bindax.numpy_dtype_promotion("strict")):
        assert (x + y).dtype == np.float32
        with bindax.numpy_dtype_promotion("strict"):
            for _ in range(2):
                with pytest.raises(TypeError, match="numpy_dtype_promotion is 'strict'"):
                    x + y
            assert in_thread(lambda: (x + y).dtype) == np.float32


def test_nans_are_looked_for_in_the_thread_alone() -> None:
    f = bindax.jit(jnp.log)
    x = -jnp.ones(2)
    with elsewhere(bindax.debug_nans()):
        assert np.isnan(f(x)).all()
        assert np.isnan(jnp.log(x)).all()
        with bindax.debug_nans():
            for function in (f, jnp.log):
                with pytest.raises(NonFiniteError):
                    function(x)
    assert np.isnan(f(x)).all()
    with bindax.debug_nans():
        with elsewhere(bindax.debug_nans()):
            pass  # its end does not end that of this thread
        with pytest.raises(NonFiniteError):
            f(x)


def test_nans_are_looked_for_in_threads_that_run_already() -> None:
    with ThreadPoolExecutor(1) as pool:
        assert np.isnan(pool.submit(jnp.log, -1.0).result())
        bindax.config.debug_nans = True
        try:
            with pytest.raises(NonFiniteError):
                pool.submit(jnp.log, -1.0).result()
        finally:
            bindax.config.debug_nans = False
        assert np.isnan(pool.submit(jnp.log, -1.0).result())


def test_functions_are_compiled_but_in_the_thread_without_jit() -> None:
    seen: list[type] = []
    f = bindax.jit(lambda x: seen.append(type(x)) or x)
    with elsewhere(bindax.disable_jit()):
        f(1.0)
        with bindax.disable_jit():
            f(1.0)
    assert [one is float for one in seen] == [False, True]


def test_logs_are_of_the_thread_alone(caplog: pytest.LogCaptureFixture) -> None:
    with elsewhere(bindax.log_compiles()):
        bindax.jit(lambda x: x + 1)(1.0)
        assert not caplog.records
        with bindax.log_compiles():
            bindax.jit(lambda x: x + 2)(1.0)
    assert caplog.records


def test_leaks_are_looked_for_in_the_thread_alone() -> None:
    kept: list[Any] = []
    with elsewhere(bindax.check_tracer_leaks()):
        bindax.jit(lambda x: kept.append(x) or x)(1.0)
        with bindax.check_tracer_leaks(), pytest.raises(bindax.errors.UnexpectedTracerError):
            bindax.jit(lambda x: kept.append(x) or x)(1.0)


def test_rules_are_checked_in_the_thread_alone() -> None:
    with elsewhere(bindax.config.override(check_rules=True)):
        assert not bindax.config.check_rules
        assert float(bindax.grad(jnp.sin)(0.0)) == 1.0


def test_keys_are_looked_at_in_the_thread_alone() -> None:
    draw = bindax.jit(random.normal)
    with elsewhere(random.debug_key_reuse()):
        key = random.key(0)
        assert random.normal(key) == random.normal(key) == draw(key)
        with random.debug_key_reuse():
            draw(key)
            with pytest.raises(Exception, match=r"is used by random\.normal"):
                draw(key)
    block, other = random.debug_key_reuse(), random.debug_key_reuse()
    with elsewhere(block), elsewhere(other):
        pass
    key = random.key(0)
    assert random.normal(key) == random.normal(key)


def test_transfers_are_guarded_in_the_thread_alone() -> None:
    f = bindax.jit(lambda x: x + 1)
    f(np.ones(3))
    with elsewhere(bindax.transfer_guard("disallow")):
        f(np.ones(3))
        if bindax.default_backend() != "numpy":
            with bindax.transfer_guard("disallow"), pytest.raises(TransferError):
                f(np.ones(3))


def test_meshes_are_those_of_the_thread() -> None:
    mesh, other = bindax.make_mesh((1,), ("a",)), bindax.make_mesh((1,), ("b",))
    with elsewhere(other):
        assert bindax.sharding.get_mesh() is None
        with mesh:
            assert bindax.sharding.get_mesh() is mesh
            with elsewhere(mesh):  # the same object in two threads
                assert in_thread(bindax.sharding.get_mesh) is None
            assert bindax.sharding.get_mesh() is mesh
    context = bindax.set_mesh(mesh)
    assert bindax.sharding.get_mesh() is mesh
    assert in_thread(bindax.sharding.get_mesh) is None
    with context:
        assert bindax.sharding.get_mesh() is mesh
    assert bindax.sharding.get_mesh() is None


def test_callbacks_see_the_settings_of_the_program() -> None:
    def host(x: Any) -> Any:
        seen.append((bindax.config.dtype_bits, bindax.config.numpy_rank_promotion))
        return np.asarray(x)

    seen: list[Any] = []
    kind = bindax.ShapeDtypeStruct((), np.float32)
    f = bindax.jit(lambda x: bindax.pure_callback(host, kind, x))
    x = np.float32(1)
    with bindax.config.override(enable_x64=True, numpy_rank_promotion="warn"):
        f(x).block_until_ready()
    f(x).block_until_ready()
    assert seen == [(64, "warn"), (32, "allow")]


def test_a_block_ends_for_the_tasks_of_the_compiler_too() -> None:
    """A program that runs after its block ended has the settings that it was compiled with."""
    pytest.importorskip("jaxlib", reason="nothing compiles")
    barrier = threading.Barrier(2)

    def host(x: Any) -> Any:
        barrier.wait(10)
        return np.asarray(x) + bindax.config.dtype_bits

    f = bindax.jit(lambda x: bindax.pure_callback(host, bindax.ShapeDtypeStruct((), np.float32), x))
    with ThreadPoolExecutor(1) as pool:
        with bindax.enable_x64():
            call = f.lower(np.float32(0)).compile()
        future = pool.submit(lambda: float(call(np.float32(0))))
        barrier.wait(10)
        assert future.result() == 64
