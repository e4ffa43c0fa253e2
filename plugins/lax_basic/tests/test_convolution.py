"""Convolutions and products beside JAX and NumPy, their corner cases and their errors."""

import numpy as np
import pytest

import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_lax_basic.samples.contractions import convolutions, products

CONVOLUTIONS = [*convolutions(), *products()]
LABELS = [sample.label for sample in CONVOLUTIONS]
X = np.arange(60.0, dtype=np.float32).reshape(2, 3, 10) / 10
K = np.arange(24.0, dtype=np.float32).reshape(4, 3, 2) / 10


def assert_close(got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    tolerance = 2e-2 if got.dtype.itemsize == 2 else 2e-5
    np.testing.assert_allclose(got.astype(wide), wanted.astype(wide), tolerance, tolerance)


@pytest.mark.parametrize("sample", CONVOLUTIONS, ids=LABELS)
def test_values_are_jaxs(jax_answers, sample):
    operands = sample.make()
    wanted = jax_answers("value", lambda jax: sample.call(jax.lax, *operands))
    assert_close(sample.call(lax, *operands), wanted)


@pytest.mark.parametrize("sample", CONVOLUTIONS[:7], ids=LABELS[:7])
def test_derivatives_are_jaxs(jax_answers, sample):
    operands, tangents = sample.make(), sample.make(1)
    ours = lambda *xs: sample.call(lax, *xs)  # noqa: E731
    out, tangent = bt.jvp(ours, operands, tangents)

    def by_jax(jax):
        theirs = lambda *xs: sample.call(jax.lax, *xs)  # noqa: E731
        both = lambda xs, ts, ct: (*jax.jvp(theirs, xs, ts), jax.vjp(theirs, *xs)[1](ct))  # noqa: E731
        return jax.jit(both)(tuple(operands), tuple(tangents), np.asarray(out))

    wanted, wanted_tangent, gradients = jax_answers("both", by_jax)
    assert_close(out, wanted)
    assert_close(tangent, wanted_tangent)
    for a, b in zip(bt.vjp(ours, *operands)[1](out), gradients, strict=True):
        assert_close(a, b)


@pytest.mark.every(3)
@pytest.mark.parametrize("sample", CONVOLUTIONS[:9], ids=LABELS[:9])
def test_batches_are_loops(sample):
    operands = sample.make()
    stacks = [np.stack([x, 2 * x, x * x]) for x in operands]
    for axes in ((0, 0), (0, None), (None, 0)):
        both = [x if axis is None else s for x, s, axis in zip(operands, stacks, axes, strict=True)]
        out = bt.vmap(lambda *xs: sample.call(lax, *xs), in_axes=axes)(*both)
        for i in range(3):
            rows = [x if axis is None else x[i] for x, axis in zip(both, axes, strict=True)]
            assert_close(out[i], sample.call(lax, *rows))
        none = [x if axis is None else x[:0] for x, axis in zip(both, axes, strict=True)]
        empty = bt.vmap(lambda *xs: sample.call(lax, *xs), in_axes=axes)(*none)
        assert empty.shape == (0, *out.shape[1:])


def test_one_dimension_is_numpys_correlation():
    x, kernel = X[0, 0], K[0, 0]
    out = lax.conv(x[None, None], kernel[None, None], (1,), "VALID")
    assert_close(out[0, 0], np.correlate(x, kernel, "valid"))


def test_transposed_convolution_is_a_gradient():
    x = np.ones((1, 9, 3), np.float32)
    kernel = np.arange(18, dtype=np.float32).reshape(3, 3, 2)
    numbers = ("NHC", "HIO", "NHC")

    def forward(x):
        return lax.conv_general_dilated(x, kernel, (2,), "VALID", dimension_numbers=numbers)

    out, back = bt.vjp(forward, x)
    got = lax.conv_transpose(
        out, kernel, (2,), [(0, 0)], transpose_kernel=True, use_consistent_padding=True
    )
    assert_close(got, back(out)[0])


def test_paddings_by_name():
    assert lax.padtype_to_pads((5, 6), (2, 3), (2, 1), "SAME_LOWER") == [(1, 0), (1, 1)]
    assert lax.padtype_to_pads((5,), (2,), (2,), "valid") == [(0, 0)]


def test_dimension_numbers():
    numbers = lax.conv_dimension_numbers((1, 2, 3, 4), (1, 2, 3, 4), ("CWNH", "HIWO", "NHWC"))
    assert numbers == lax.ConvDimensionNumbers((2, 0, 3, 1), (3, 1, 0, 2), (0, 3, 1, 2))
    assert lax.conv_dimension_numbers((1, 2), (1, 2), numbers) is numbers


def convolve(x=X, kernel=K, strides=(1,), padding="SAME", **arguments):
    return lax.conv_general_dilated(x, kernel, strides, padding, **arguments)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: convolve(strides=(1, 1)), TypeError, r"window_strides \(1, 1\) must have one"),
        (lambda: convolve(padding="FULL"), ValueError, "'VALID', 'SAME' or 'SAME_LOWER'"),
        (lambda: convolve(padding=[(0, 0)] * 2), TypeError, "padding .* one entry for each of the"),
        (lambda: convolve(padding=[(0, 0, 0)]), ValueError, r"a pair \(front, behind\)"),
        (lambda: convolve(kernel=K[:, :2]), ValueError, "takes 2 input features, but .* has 3"),
        (lambda: convolve(kernel=K[0]), TypeError, "equally many axes"),
        (lambda: convolve(kernel=K.astype(int)), TypeError, "equal dtypes"),
        (lambda: convolve(feature_group_count=2), ValueError, "2 does not divide the 3 input"),
        (lambda: convolve(kernel=K[:, :1], feature_group_count=3), ValueError, "the 4 output feat"),
        (lambda: convolve(batch_group_count=3), ValueError, "does not divide the 2 batch"),
        (lambda: convolve(batch_group_count=0), ValueError, "must be positive"),
        (lambda: convolve(batch_group_count=2, feature_group_count=3), ValueError, "only one of"),
        (lambda: convolve(strides=(0,), padding=((0, 0),)), ValueError, "strides must be positive"),
        (lambda: convolve(kernel=K[:, :, :0], padding="VALID"), ValueError, "spatial sizes"),
        (lambda: convolve(lhs_dilation=(2,)), ValueError, "'SAME' is not defined.*conv_transpose"),
        (lambda: convolve(dimension_numbers=("NCH", "OIH")), TypeError, "three strings"),
        (
            lambda: convolve(dimension_numbers=("NCH", "OIH", "NCC")),
            TypeError,
            r"dimension_numbers\[2\] is 'NCC'",
        ),
        (
            lambda: convolve(dimension_numbers=lax.ConvDimensionNumbers((0, 1, 2), (0, 0, 1), ())),
            TypeError,
            "rhs_spec of dimension_numbers",
        ),
        (
            lambda: convolve(X + 0j, K + 0j, preferred_element_type=np.float32),
            TypeError,
            "drop its imaginary part",
        ),
        (
            lambda: lax.dot(X[0].astype(int), X[0].T.astype(int), preferred_element_type="int8"),
            TypeError,
            "int8 is narrower than",
        ),
        (
            lambda: lax.conv_transpose(X, K, (2,), "FULL"),
            ValueError,
            "conv_transpose: padding must be 'SAME' or 'VALID'",
        ),
        (lambda: lax.batch_matmul(X[0, 0], X[0, 0]), ValueError, "at least 2, but got"),
        (lambda: lax.batch_matmul(X, X[0]), ValueError, "equally many axes"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
