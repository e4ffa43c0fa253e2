"""Settings of ``with`` blocks hold for a thread or a task, assignments for the process."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bindax_core import config, enable_x64
from bindax_core._config import _process

VALUES: dict[str, tuple[Any, ...]] = {
    "enable_x64": ("explicit", True, False),
    "numpy_rank_promotion": ("allow", "warn", "raise"),
    "debug_key_reuse": (False, True),
}
STEPS = st.one_of(
    st.tuples(
        st.just("enter"),
        st.integers(0, 1),
        st.sampled_from([(name, value) for name in VALUES for value in VALUES[name]]),
    ),
    st.tuples(st.just("leave"), st.integers(0, 1), st.integers(0, 7)),
    st.tuples(
        st.just("assign"),
        st.integers(0, 1),
        st.sampled_from([(name, value) for name in VALUES for value in VALUES[name]]),
    ),
)


@pytest.fixture
def threads() -> Iterator[list[ThreadPoolExecutor]]:
    pools = [ThreadPoolExecutor(1), ThreadPoolExecutor(1)]
    yield pools
    for pool in pools:
        pool.shutdown()


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = {name: getattr(config, name) for name in VALUES}
    yield
    for name, value in before.items():
        config.update(name, value)


def read() -> dict[str, Any]:
    return {name: getattr(config, name) for name in VALUES}


def bits_of(values: dict[str, Any]) -> int:
    return 64 if values["enable_x64"] is True else 32


class Model:
    """Settings as they should be: values of the process, and the open blocks of each thread."""

    def __init__(self) -> None:
        self.process = {name: values[0] for name, values in VALUES.items()}
        self.blocks: list[list[tuple[Any, str, Any]]] = [[], []]

    def view(self, thread: int) -> dict[str, Any]:
        return self.process | {name: value for _, name, value in self.blocks[thread]}


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_any_interleaving_is_that_of_the_model(steps: list[Any]) -> None:
    pools = [ThreadPoolExecutor(1), ThreadPoolExecutor(1)]
    model = Model()
    for name, value in model.process.items():
        config.update(name, value)
    try:
        for kind, thread, what in steps:
            blocks = model.blocks[thread]
            if kind == "assign":
                pools[thread].submit(config.update, *what).result()
                model.process[what[0]] = what[1]
            elif kind == "enter":
                block = config.override(**dict([what]))
                pools[thread].submit(block.__enter__).result()
                blocks.append((block, *what))
            elif blocks:  # any of them, not the innermost alone
                block = blocks.pop(what % len(blocks))[0]
                pools[thread].submit(block.__exit__, None, None, None).result()
            for i in (0, 1):
                assert pools[i].submit(read).result() == model.view(i)
                assert pools[i].submit(lambda: config.dtype_bits).result() == bits_of(model.view(i))
            assert read() == model.process
            for name in VALUES:
                values = [
                    model.process[name],
                    *(v for one in model.blocks for _, n, v in one if n == name),
                ]
                assert config.is_on(name) == any(values)
    finally:
        for pool, blocks in zip(pools, model.blocks, strict=True):
            for block, *_ in blocks:
                pool.submit(block.__exit__, None, None, None).result()
            pool.shutdown()
        for name, values in VALUES.items():
            config.update(name, values[0])


def test_blocks_of_two_threads_that_end_in_the_order_of_their_beginning(
    threads: list[ThreadPoolExecutor],
) -> None:
    blocks = [enable_x64(True), enable_x64(True)]
    for pool, block in zip(threads, blocks, strict=True):
        pool.submit(block.__enter__).result()
    assert config.enable_x64 == "explicit"
    for pool, block in zip(threads, blocks, strict=True):
        pool.submit(block.__exit__, None, None, None).result()
    assert config.enable_x64 == "explicit"
    assert (vars(config) is _process.values) == (not _process.blocks)  # read as attributes


def in_thread(function: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_a_thread_that_is_started_in_a_block_sees_the_values_of_the_process() -> None:
    with enable_x64(True):
        assert in_thread(lambda: config.enable_x64) == "explicit"
        copied = contextvars.copy_context()
        assert in_thread(lambda: copied.run(lambda: config.enable_x64)) is True
        in_thread(lambda: config.update("numpy_rank_promotion", "warn"))
        assert (config.enable_x64, config.numpy_rank_promotion) == (True, "warn")


def test_an_assignment_inside_a_block_of_the_setting_is_seen_when_it_ends() -> None:
    with config.override(numpy_rank_promotion="raise"):
        config.numpy_rank_promotion = "warn"
        assert config.numpy_rank_promotion == "raise"
        assert in_thread(lambda: config.numpy_rank_promotion) == "warn"
    assert config.numpy_rank_promotion == "warn"


def test_a_change_inside_a_block_of_the_setting_may_end_with_the_block() -> None:
    with config.override(numpy_rank_promotion="raise"):
        with config.override(enable_x64=True):
            config.update_here("numpy_rank_promotion", "warn")
            assert config.numpy_rank_promotion == "warn"
            assert in_thread(lambda: config.numpy_rank_promotion) == "allow"
        assert config.numpy_rank_promotion == "warn"
        with pytest.raises(ValueError, match="numpy_rank_promotion must be one of"):
            config.update_here("numpy_rank_promotion", "shout")
        assert config.numpy_rank_promotion == "warn"
    assert config.numpy_rank_promotion == "allow"
    config.update_here("numpy_rank_promotion", "warn")
    assert in_thread(lambda: config.numpy_rank_promotion) == "warn"
    with pytest.raises(AttributeError, match="no setting 'unheard_of'"):
        config.update_here("unheard_of", 1)


def test_a_change_inside_a_block_that_an_observer_refuses_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: bool) -> None:
        raise RuntimeError("refused")

    setting = config.setting("debug_nans")
    with config.override(debug_nans=False):
        monkeypatch.setattr(setting, "observers", [refuse])
        with pytest.raises(RuntimeError, match="refused"):
            config.update_here("debug_nans", True)
        assert config.debug_nans is False
        monkeypatch.undo()


def test_generators_that_are_left_in_any_order_corrupt_nothing() -> None:
    def inside(value: Any) -> Iterator[Any]:
        with enable_x64(value):
            yield config.enable_x64
            yield config.enable_x64

    one, other = inside(True), inside(False)
    assert (next(one), next(other), next(one)) == (True, False, False)
    one.close()
    assert config.enable_x64 is False
    other.close()
    assert config.enable_x64 == "explicit"
    third = inside(True)
    next(third)
    in_thread(third.close)  # as the collector may do
    assert config.enable_x64 == "explicit"
    fourth = inside(True)
    next(fourth)
    del fourth
    gc.collect()
    assert config.enable_x64 == "explicit"


def test_tasks_have_the_settings_of_their_own_blocks() -> None:
    async def inside(value: Any, seconds: float) -> tuple[Any, Any]:
        with enable_x64(value):
            before = config.enable_x64
            await asyncio.sleep(seconds)
            return before, config.enable_x64

    async def outer() -> Any:
        with config.override(numpy_rank_promotion="raise"):
            task = asyncio.create_task(asyncio.to_thread(lambda: config.numpy_rank_promotion))
            return await asyncio.gather(inside(True, 0.02), inside(False, 0.01), task)

    assert asyncio.run(outer()) == [(True, True), (False, False), "raise"]
    assert config.enable_x64 == "explicit"


def test_a_context_that_fails_to_begin_changes_nothing() -> None:
    before = read()
    with pytest.raises(ValueError, match="numpy_rank_promotion must be one of"):
        config.enter(enable_x64=True, numpy_rank_promotion="perhaps")
    assert read() == before

    def refuse(on: bool) -> None:
        if on:
            raise RuntimeError("no")

    config.observe("debug_key_reuse", refuse)
    try:
        for change in (lambda: config.enter(debug_key_reuse=True), assign_reuse):
            with pytest.raises(RuntimeError, match="no"):
                change()
            assert read() == before
            assert not config.is_on("debug_key_reuse")
    finally:
        config.setting("debug_key_reuse").observers.remove(refuse)


def assign_reuse() -> None:
    config.debug_key_reuse = True


def test_many_threads_at_once() -> None:
    before = list(_process.blocks)

    def work(value: Any) -> bool:
        right = True
        for _ in range(200):
            with enable_x64(value):
                right &= (
                    config.enable_x64 is value and dict(config.trace_key)["enable_x64"] is value
                )
            right &= config.enable_x64 == "explicit"
        return right

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, [True, False] * 4))
    assert _process.blocks == before


def test_the_settings_are_pickled_by_name() -> None:
    with enable_x64(True):
        assert pickle.loads(pickle.dumps(config)) is config
