"""Compiled programs read bindax's own arrays where they are, and the user's from a copy."""

from __future__ import annotations

import gc
import time
import weakref

import ml_dtypes
import numpy as np
import pytest

from bindax_core import Array, device_put
from bindax_transforms import jit

COUNT = 1 << 16


def place(array, offset=0):
    """The same numbers at an address that is a multiple of 64 and the offset."""
    memory = np.empty(array.nbytes + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    out = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


def address(backend, x):
    return backend.to_host(x.buffer_on(backend), x.aval).ctypes.data


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex128", ml_dtypes.bfloat16])
def test_own_arrays_are_shared(backend, dtype):
    x = Array.from_numpy(place(np.arange(COUNT).astype(dtype)))
    assert address(backend, x) == x.numpy().ctypes.data


@pytest.mark.parametrize(
    "array",
    [
        pytest.param(place(np.zeros(COUNT, np.float32), 16), id="between boundaries"),
        pytest.param(place(np.zeros((COUNT, 2), np.float32)).T, id="in another order"),
        pytest.param(place(np.zeros(COUNT, np.float32))[::2], id="with gaps"),
        pytest.param(place(np.zeros(9, np.float32)), id="few"),
        pytest.param(place(np.zeros(COUNT, ml_dtypes.int4)), id="packed"),
    ],
)
def test_others_are_copied(backend, array):
    x = Array.from_numpy(array)
    assert address(backend, x) != array.ctypes.data
    np.testing.assert_array_equal(backend.to_host(x.buffer_on(backend), x.aval), array)


def test_the_users_arrays_are_copied(backend, ops):
    mine = place(np.ones(COUNT, np.float32))
    same = jit(lambda x: x)
    outs = [same(mine), device_put(mine), jit(ops.add)(mine, mine)]
    compiled = same.lower(mine).compile()
    outs.append(compiled(mine))
    mine[:] = 7
    for out, expected in zip(outs, (1, 1, 2, 1), strict=True):
        assert np.all(np.asarray(out) == expected)
    buffer = backend.put(mine, copy=True)
    mine[:] = 8
    assert np.all(backend.to_host(buffer, outs[0].aval) == 7)


def test_a_donated_array_keeps_what_others_see(ops):
    x = Array.from_numpy(place(np.ones(COUNT, np.float32)))
    view = np.asarray(x)
    double = jit(lambda x: ops.add(x, x), donate_argnums=0)
    out = double(x)
    assert x.is_deleted()
    assert np.all(np.asarray(out) == 2)
    assert np.all(view == 1)


def test_a_deleted_array_keeps_what_others_see(backend):
    x = Array.from_numpy(place(np.ones(COUNT, np.float32)))
    view = np.asarray(x)
    x.buffer_on(backend)
    x.delete()
    gc.collect()
    assert np.all(view == 1)


def test_memory_is_freed(ops):
    double = jit(lambda x: ops.add(x, x))
    alive = []

    def is_kept(count):
        # The runtime lets go of what a program read a moment after its result is there.
        deadline = time.monotonic() + 20
        while sum(ref() is not None for ref in alive) > count:
            if time.monotonic() > deadline:
                return True
            gc.collect()
        return False

    for i in range(50):
        memory = place(np.full(COUNT, i, np.float32))
        alive.append(weakref.ref(memory.base))
        x = Array.from_numpy(memory)
        out = double(x)
        del memory, x
        assert np.asarray(out)[-1] == 2 * i
        assert not is_kept(2)
    del out
    assert not is_kept(0)


@pytest.mark.parametrize("count", [1, COUNT])
def test_an_operand_that_was_copied_is_freed(ops, count):
    double = jit(lambda x: ops.add(x, x))
    operand = np.ones(count)[::-1]
    alive = weakref.ref(operand)
    assert np.asarray(double(operand))[0] == 2
    del operand
    gc.collect()
    assert alive() is None
