"""Arguments that have no meaning are refused, as JAX does: nothing is taken for something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax_lax_basic as lax
import bindax_numpy as jnp

A = np.ones((3, 3), np.float32)
V = np.arange(3.0)
STRUCT = np.dtype([("a", int)])

# One integer, where one is due: a tuple or a float is none.
INTEGERS: dict[str, Callable[[Any], Any]] = {
    "diag": lambda n: jnp.diag(V, k=n),
    "diagflat": lambda n: jnp.diagflat(V, k=n),
    "diagonal": lambda n: jnp.diagonal(A, offset=n),
    "linspace": lambda n: jnp.linspace(0, 1, num=n),
    "bartlett": jnp.bartlett,
    "kaiser": lambda n: jnp.kaiser(n, 1.0),
    "rot90": lambda n: jnp.rot90(A, n),
    "nonzero": lambda n: jnp.nonzero(A, size=n),
    "unique": lambda n: jnp.unique(V, size=n),
    "polyder": lambda n: jnp.polyder(V, n),
    "polyint": lambda n: jnp.polyint(V, n),
    "vander": lambda n: jnp.vander(V, n),
    "matrix_power": lambda n: jnp.linalg.matrix_power(A, n),
    "fftfreq": jnp.fft.fftfreq,
    "tril_indices": jnp.tril_indices,
    "triu_indices": lambda n: jnp.triu_indices(3, n),
    "diff": lambda n: jnp.diff(V, n=n),
    "round": lambda n: jnp.round(V, n),
    "argpartition": lambda n: jnp.argpartition(V, n),
    "bincount": lambda n: jnp.bincount(np.array([1]), length=n),
    "repeat": lambda n: jnp.repeat(V, 2, total_repeat_length=n),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_one_integer(name: str) -> None:
    for wrong in ((1,), 1.5):
        with pytest.raises((TypeError, ValueError), match=r"takes (an|one) integer for"):
            INTEGERS[name](wrong)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: jnp.round(V, None), "round takes an integer for decimals"),
    (lambda: jnp.isin(A, A, method="bogus"), "isin: method must be one of .*'bogus'"),
    (lambda: jnp.cov(A, fweights=np.ones(3)), "cov: fweights must be integers"),
    (lambda: jnp.cov(A, dtype=int), "dtype of covariances must be float or complex, but is int32"),
    (lambda: jnp.hypot(1j, 2), "hypot"),
    (lambda: jnp.matvec(V, A), "matvec: x1 must be a matrix .*but is float64"),
    (lambda: jnp.vecmat(A, V), "vecmat: x2 must be a matrix"),
    (lambda: jnp.histogram(A, weights=2), "histogram: weights must have the shape of the array"),
    (lambda: jnp.histogramdd(A, weights=2), "histogramdd: weights must be a vector"),
    (lambda: jnp.delete(A, np.zeros((0,))), "delete takes integers, booleans or a slice"),
    (lambda: jnp.delete(V, np.array([True, False])), "one for each of the 3 slices"),
    (lambda: jnp.zeros(2, dtype=STRUCT), "arrays cannot have the dtype"),
    (lambda: lax.full((2,), 0, STRUCT), "arrays cannot have the dtype"),
    (lambda: jnp.array([1.0], order="bogus"), "order must be .*'bogus'"),
    (lambda: jnp.asarray(V, order=3), "order must be .* but is 3"),
    (lambda: jnp.full_like(A, 1j), "full_like: 1j cannot have the dtype float32"),
    (lambda: jnp.full((2,), 1j, np.float32), "1j cannot have the dtype float32"),
    (lambda: jnp.asarray(1j, np.float32), "1j cannot have the dtype float32"),
    (lambda: lax.full((2,), 1j, np.float32), "1j cannot have the dtype float32"),
    (lambda: lax.full_like(A, 1j), "1j cannot have the dtype float32"),
    (lambda: lax.convert_element_type(1j, np.float32), "1j cannot become float32"),
    (lambda: lax.convert_element_type(1, None), "None does not name a dtype"),
    (lambda: lax.iota(None, 3), "None does not name a dtype"),
    (lambda: jnp.diag_indices(-1), "diag_indices: sizes must not be negative"),
    (lambda: jnp.repeat(V, 2, total_repeat_length=-1), "total_repeat_length must not be negative"),
    (lambda: jnp.split(A, {1, 2}), "indices_or_sections must be integers in order"),
    (lambda: jnp.ones({2, 3}), "shape must be integers in order"),
    *(
        (lambda f=f: f(A, where=np.ones((2, 3, 3), bool)), "where and mean must broadcast")
        for f in (jnp.var, jnp.std, jnp.nanvar, jnp.nanstd)
    ),
    (lambda: jnp.var(A, mean=np.ones((2, 3, 3))), "where and mean must broadcast"),
]


@pytest.mark.parametrize("i", range(len(REFUSED)))
def test_refused(i: int) -> None:
    call, message = REFUSED[i]
    with pytest.raises((TypeError, ValueError), match=message):
        call()
