"""Functions of operands of one dtype and rank evaluate under both strict settings of promotion.

What they compute inside is promoted by themselves: the settings are about the caller's operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.image
import bindax.nn
import bindax.numpy as jnp
import bindax.scipy
import bindax.scipy.cluster
import bindax.scipy.fft
import bindax.scipy.linalg
import bindax.scipy.signal
import bindax.scipy.special
import bindax.scipy.stats
from bindax import random, tree

RNG = np.random.default_rng(0)
A = jnp.array(RNG.normal(size=(3, 4)), np.float32)
V = jnp.array([0.3, 0.7, 0.5, 0.1], np.float32)
M = jnp.array(RNG.normal(size=(4, 4)), np.float32)
P = M @ M.T + 3 * jnp.eye(4, dtype=np.float32)
S = jnp.stack([P, P + M + M.T])
C = V + V * np.complex64(1j)
I = jnp.array([3, 1, 2, 0], np.int32)
K = jnp.array([True, False, True, True])
Q = jnp.array(RNG.normal(size=(1, 2, 3, 4)), np.float32)
KEY = random.key(0)

CALLS = """
jnp.nanstd(C)
jnp.nanvar(C)
jnp.vander(V)
jnp.vander(I, 3)
jnp.vander(K)
jnp.vander(C, 3, increasing=True)
jnp.polyfit(V, V, 1)
jnp.median(A, axis=1)
jnp.nanmedian(Q, axis=-1)
jnp.quantile(A, jnp.array([0.1, 0.5], np.float32), axis=1)
jnp.nanquantile(A, 0.3, axis=1)
jnp.quantile(A, 0.3, axis=1, weights=jnp.abs(A), method='inverted_cdf')
jnp.percentile(A, 30, axis=0)
jnp.pad(A, 1, mode='median')
jnp.pad(A, 1, mode='reflect')
jnp.packbits(K)
jnp.packbits(K[None], axis=1)
jnp.unpackbits(I.astype(np.uint8))
jnp.cov(A, fweights=I)
jnp.cov(A, aweights=V)
jnp.corrcoef(A)
jnp.histogram(V, bins=3, weights=V)
jnp.histogram(I)
jnp.histogram(I, bins=np.array([0, 2, 4]), weights=I, density=True)
jnp.histogram(V.astype(jnp.bfloat16), bins=np.array([0, 1.0]))
jnp.histogram2d(I, I, bins=2, weights=I, density=True)
jnp.histogram_bin_edges(I, bins=np.array([0, 2, 4]))
jnp.linspace(1, 5, 9, dtype=np.int8)
jnp.linspace(I[0], I[1], 9, dtype=jnp.bfloat16, retstep=True)
jnp.logspace(0, 1, 9, dtype=jnp.bfloat16)
jnp.pad(I, 2, mode='linear_ramp', end_values=-3)
jnp.isin(2, I.astype(np.int8))
jnp.isin(V.astype(jnp.bfloat16), 0.5)
jnp.setdiff1d(I.astype(np.int8), 1)
jnp.searchsorted(V.astype(jnp.bfloat16), 0.5)
jnp.digitize(0.5, V.astype(jnp.bfloat16))
jnp.nanvar(V.astype(np.float16), mean=V[:1].astype(np.float16))
jnp.nanmean(A, where=K)
jnp.nanmax(C)
jnp.nanmin(C)
jnp.histogramdd(A.T)
jnp.top_k(V, 2, mode='smallest')
jnp.minmax(A, axis=0)
jnp.linalg.pinv(A)
jnp.linalg.pinv(S, hermitian=True)
jnp.linalg.svd(S, hermitian=True)
jnp.linalg.qr(S, mode='raw')
bindax.nn.dot_product_attention(Q, Q, Q, is_causal=True)
bindax.nn.dot_product_attention(Q, Q, Q, local_window_size=1, mask=jnp.ones((1, 1, 2, 2), bool))
bindax.nn.dot_product_attention(Q, Q, Q, query_seq_lengths=jnp.array([1], np.int32))
random.pareto(KEY, V.astype(np.float16))
random.multivariate_normal(KEY, V, P, (3,))
bindax.scipy.special.hyp2f1(V, V, V, V)
bindax.scipy.special.multigammaln(V + 3, 2)
bindax.scipy.special.owens_t(V, V)
bindax.scipy.special.erfcinv(V)
bindax.scipy.special.sici(V)
bindax.scipy.linalg.funm(M, jnp.exp, disp=False)
bindax.scipy.linalg.hessenberg(S, calc_q=True)
bindax.scipy.linalg.leslie(S, S[..., :3])
bindax.scipy.linalg.lu(S)
bindax.scipy.linalg.rsf2csf(M, M)
bindax.scipy.linalg.schur(M, output='complex')
bindax.scipy.linalg.solve_sylvester(S, S, S)
bindax.scipy.linalg.sqrtm(S)
bindax.scipy.signal.welch(V, nperseg=4)
bindax.scipy.signal.stft(V, nperseg=4)
bindax.scipy.signal.istft(jnp.ones((3, 4), np.complex64), nperseg=4)
bindax.scipy.stats.rankdata(V)
bindax.scipy.cluster.vq.vq(A, A)
bindax.scipy.fft.dctn(A)
bindax.scipy.fft.idct(A)
bindax.image.resize(A, (6, 8), 'bilinear')
bindax.image.resize(A, (2, 2), 'cubic')
bindax.grad(lambda x: jnp.linalg.pinv(x).sum())(S)
bindax.grad(lambda x: jnp.abs(bindax.scipy.linalg.sqrtm(x)).sum())(P)
bindax.grad(lambda x: jnp.median(x, axis=1).sum())(M)
bindax.grad(lambda x: jnp.linalg.eigh(x @ x.T)[0].sum())(M)
"""


@pytest.mark.parametrize("call", [line for line in CALLS.splitlines() if line])
def test_own_promotion_is_explicit(call: str) -> None:
    def computed() -> list[Any]:
        return [np.asarray(x) for x in tree.leaves(eval(call))]

    wanted = computed()
    strict = {"numpy_rank_promotion": "raise", "numpy_dtype_promotion": "strict"}
    with bindax.config.override(**strict):
        found = computed()
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
