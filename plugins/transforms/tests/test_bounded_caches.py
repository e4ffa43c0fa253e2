"""The bound on compiled programs: ``config.compiled_programs``, over all functions."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from toy import sin

from bindax_core import config
from bindax_core._site import _other_files, is_internal
from bindax_core.arrays._executable_cache import ExecutableCache
from bindax_core.extend import CacheEntry, executable_cache
from bindax_transforms import jit, vmap

pytestmark = pytest.mark.usefixtures("toy_operations")


@pytest.fixture
def limit():
    executable_cache.clear()
    with config.override(compiled_programs=16):
        yield 16
    executable_cache.clear()


def test_a_function_of_ever_new_shapes_drops_the_oldest(limit):
    f = jit(lambda x: sin(x))
    for n in range(1, 60):
        f(np.ones(n, np.float32))
        f(np.ones(1, np.float32))  # in use, and never dropped
    info = f.cache_info()
    assert info.size <= limit
    assert info.misses == 59
    f(np.ones(59, np.float32))
    assert f.cache_info().misses == 59
    f(np.ones(2, np.float32))
    assert f.cache_info().misses == 60


def test_the_bound_holds_over_all_functions(limit):
    functions = [jit(lambda x, i=i: sin(x) + i) for i in range(30)]
    for f in functions:
        for n in (1, 2):
            f(np.ones(n, np.float32))
    assert sum(f.cache_info().size for f in functions) <= limit
    assert functions[-1].cache_info().size == 2
    assert functions[0].cache_info().size == 0


def test_derived_programs_are_counted(limit):
    f = jit(lambda x: sin(x))
    for n in range(1, 60):
        vmap(f)(np.ones((n, 3), np.float32))
    gc.collect()
    assert len(executable_cache) <= limit


def test_functions_that_are_gone_are_not_counted(limit):
    for n in range(5):
        jit(lambda x, n=n: sin(x) + n)(np.ones(2))
    gc.collect()
    assert len(executable_cache) == 0


def test_large_programs_count_more(limit):
    dropped = []

    class Program(CacheEntry):
        def __init__(self, size):
            super().__init__()
            self.size = size

        def drop(self):
            dropped.append(self.size)

    recent = ExecutableCache()
    programs = [Program(size) for size in (8000, 7000, 3000, 100_000)]
    for program in programs:
        recent.add(program)
    assert dropped == [8000, 7000, 3000]
    assert len(recent) == 1  # the last is kept, however large


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "many"])
def test_a_bound_that_is_none(value):
    with pytest.raises(ValueError, match=r"compiled_programs must be a positive integer.*got"):
        config.compiled_programs = value


def test_the_files_of_cells_are_not_kept():
    for i in range(5000):
        is_internal(compile("0", f"cell {i}", "eval"))
    assert len(_other_files) <= 4096
