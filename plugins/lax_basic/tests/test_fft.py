"""Fourier transforms beside JAX and NumPy, and their errors."""

import numpy as np
import pytest

import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_lax_basic.samples.contractions import transforms

TRANSFORMS = [*transforms()]
LABELS = [sample.label for sample in TRANSFORMS]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 6)).astype(np.float32)


@pytest.mark.parametrize("sample", TRANSFORMS, ids=LABELS)
def test_values_and_gradients_are_jaxs(sample, jax_answers):
    operands = sample.make()

    def by_jax(jax):
        out, back = jax.vjp(lambda x: sample.call(jax.lax, x), *operands)
        return out, back(out)[0]

    wanted, gradient = jax_answers("vjp", by_jax)
    got, ours = bt.vjp(lambda x: sample.call(lax, x), *operands)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, 2e-5, 2e-5)
    np.testing.assert_allclose(ours(got)[0], gradient, 2e-5, 2e-4)


def test_values_are_numpys():
    np.testing.assert_allclose(lax.fft(X, "rfft", (3, 6)), np.fft.rfft2(X), 1e-5, 1e-5)
    np.testing.assert_allclose(lax.fft(X, lax.FftType.FFT, (6,)), np.fft.fft(X), 1e-5, 1e-5)
    back = lax.fft(lax.fft(X, "RFFT", (6,)), "IRFFT", (6,))
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, X, 1e-5, 1e-5)


def test_integers_become_complex():
    out = lax.fft(np.arange(4, dtype=np.int8), "IFFT", (4,))
    assert out.dtype.kind == "c"
    np.testing.assert_allclose(out, np.fft.ifft(np.arange(4)), 1e-5, 1e-5)


def test_no_lengths_change_nothing():
    x = X.astype(np.complex64)
    np.testing.assert_array_equal(lax.fft(x, "FFT", ()), x)


@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
def test_empty_arrays(kind):
    for shape, lengths in (((2, 0), (0,)), ((0, 4), (4,))):
        last = lengths[-1] // 2 + 1 if kind == "IRFFT" and lengths[-1] else lengths[-1]
        x = np.zeros((shape[0], last), np.float32 if kind == "RFFT" else np.complex64)
        out = lax.fft(x, kind, lengths)
        (compiled,) = bt.jit(lambda x, n=lengths: [lax.fft(x, kind, n)])(x)
        assert out.size == compiled.size == 0
        assert bt.vjp(lambda x, n=lengths: lax.fft(x, kind, n), x)[1](out)[0].shape == x.shape


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lax.fft(X, "DCT", (6,)), ValueError, "'RFFT', 'IRFFT'.*but is 'DCT'"),
        (lambda: lax.fft(X, 0, (6,)), ValueError, "fft_type must be a FftType"),
        (lambda: lax.fft(X + 0j, "RFFT", (6,)), ValueError, "RFFT takes real arrays"),
        (lambda: lax.fft(X, "FFT", (5,)), ValueError, r"have the sizes \(5,\), but got complex64"),
        (lambda: lax.fft(X, "IRFFT", (6,)), ValueError, r"have the sizes \(4,\)"),
        (lambda: lax.fft(X[0, 0], "FFT", (3, 6)), ValueError, "fewer axes"),
        (lambda: lax.fft(X[None], "FFT", (1, 2, 3, 6)), ValueError, "one to three axes"),
        (lambda: lax.fft(X.astype(np.float16), "RFFT", (6,)), TypeError, "float32 or float64"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
