"""Processes forked after a program was compiled: they lack the compiler's threads."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

PROGRAM = """
import multiprocessing, os, sys, warnings
import numpy as np
import bindax_core as bx
from bindax_transforms import jit
import bindax_lax_basic as lax

f = jit(lambda x: lax.sin(x) * 2)

def total(n):
    return float(np.asarray(f(np.ones(n, np.float32))).sum())

def in_child(*calls):
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            for call in calls:
                print(call(), flush=True)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
"""


def test_pool_of_forked_processes_runs_new_and_known_shapes(run_python):
    run_python(
        PROGRAM
        + """
expected = [total(n) for n in (3, 100_000)]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(total, (3, 100_000, 4, 5)).get(60)
np.testing.assert_allclose(found[:2], expected, rtol=1e-5)
np.testing.assert_allclose(found[2:], [4 / 3 * expected[0], 5 / 3 * expected[0]], rtol=1e-5)
# From 3.12 on, Python warns of its own accord as well.
ours = [w for w in caught if w.category is not DeprecationWarning]
assert ours and all(w.category is RuntimeWarning for w in ours), ours
assert 'get_context("spawn")' in str(ours[0].message)
"""
    )


def test_results_of_the_parent_are_read_in_the_child(run_python):
    printed = run_python(
        PROGRAM + "y = f(np.ones(1_000_000))\nin_child(lambda: float(lax.reduce_sum(y, (0,))))"
    )
    assert float(printed) == pytest.approx(2e6 * 0.8414709848)


def test_what_needs_the_compiler_raises_in_the_child(run_python):
    printed = run_python(
        PROGRAM
        + """
x = f(np.ones(3, np.float32))
lowered = f.lower(np.ones(4))
from bindax_core.extend import find_backend
xla = find_backend("xla")

def failure(call):
    try:
        return call()
    except bx.errors.BackendError as error:
        return str(error)

in_child(
    lambda: failure(lowered.compile),
    lambda: failure(xla.devices),
    lambda: bx.default_backend(),
    lambda: jit(lambda x: x + 1, backend="xla")(1.0),
)
"""
    )
    first, second, third, fourth = printed.splitlines()
    assert "forked after XLA had started its threads" in first
    assert "forked after XLA had started its threads" in second
    assert (third, fourth) == ("numpy", "2.0")


def test_a_fork_before_the_first_program_neither_warns_nor_interprets(run_python):
    printed = run_python(
        PROGRAM
        + """
warnings.simplefilter("error")
pid = os.fork()
if pid == 0:
    print(bx.default_backend(), total(3) > 0, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
"""
    )
    assert printed == "xla True\n"
