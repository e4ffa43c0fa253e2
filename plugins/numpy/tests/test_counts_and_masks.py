"""Arguments that are counts or masks: one integer, however large, and booleans as numbers."""

import numpy as np
import pytest

import bindax_numpy as jnp
import bindax_transforms as bt
from bindax_core.extend import typeof

INF = np.inf
A = np.arange(4, dtype=np.float32)


@pytest.mark.parametrize(
    "x", [np.float32(INF), jnp.array(complex(INF, 1)), jnp.bfloat16(INF), 2 * jnp.array(INF)]
)
@pytest.mark.parametrize("mask", [jnp.array([False, True]), np.array([False, True]), False])
def test_numbers_times_booleans_are_chosen(x, mask):
    wanted = jnp.where(mask, x, 0)
    apply = jnp.multiply
    found = (apply(x, mask), apply(mask, x), bt.jit(apply)(x, mask), bt.jit(apply)(mask, x))
    for value in found:
        assert typeof(value) == typeof(found[0])
        np.testing.assert_array_equal(np.asarray(value), np.asarray(wanted))
    if np.ndim(mask):
        mapped = bt.vmap(apply, (None, 0))(x, mask)
        np.testing.assert_array_equal(np.asarray(mapped), np.asarray(wanted))
        slope = bt.jvp(lambda v: apply(v, mask), (x,), (x,))[1]
        np.testing.assert_array_equal(np.asarray(slope), np.asarray(wanted))


@pytest.mark.parametrize(
    "call",
    [
        "argpartition(A,N)",
        "bartlett(N)",
        "bincount(I,length=N)",
        "bincount(I,minlength=N)",
        "diag(A,N)",
        "diagflat(A,N)",
        "diagonal(M,N)",
        "fft.fftfreq(N)",
        "histogram(A,bins=N)",
        "linalg.matrix_power(M,N)",
        "linspace(0,1,N)",
        "nonzero(A,size=N)",
        "partition(A,N)",
        "polyder(A,N)",
        "polyfit(A,A,N)",
        "polyint(A,N)",
        "rot90(M,N)",
        "trace(M,N)",
        "tri(3,k=N)",
        "tril_indices(N)",
        "triu_indices(3,N)",
        "unpackbits(U,count=N)",
        "vander(A,N)",
    ],
)
def test_counts_are_one_integer(call):
    names = {**vars(jnp), "A": A, "I": np.arange(3), "M": A.reshape(2, 2), "U": np.uint8([7])}
    for wrong in ((2,), [2, 3], 2.5, "2"):
        if not (call.startswith("histogram") and isinstance(wrong, tuple | list)):  # bounds
            with pytest.raises((TypeError, ValueError), match=call.split("(")[0].split(".")[-1]):
                eval(call, names, {"N": wrong})


@pytest.mark.parametrize("count", [2**40, 2**70])
def test_counts_that_no_memory_holds_end_at_once(count):
    assert jnp.polyder(A, count).shape == (0,)
    for call in (jnp.vander, jnp.polyint, lambda x, n: jnp.polyfit(x, x, n)):
        with pytest.raises((MemoryError, OverflowError, ValueError)):
            call(A, count)
