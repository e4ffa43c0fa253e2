"""Arguments that make no sense: the error says which, and what they are."""

import numpy as np
import pytest

from bindax import dlpack, flatten_util, image, ops
from bindax.experimental.ode import odeint
from bindax.scipy import fft, interpolate, linalg, ndimage, optimize, signal, special, stats
from bindax.scipy.cluster import vq
from bindax.scipy.sparse import linalg as sparse
from bindax.scipy.spatial.transform import Rotation

V, A = np.ones(3, np.float32), np.ones((2, 3), np.float32)
Z, I = np.ones(3, np.complex64), np.array([1, 2, 3])
VALUES = {
    "axis twice": (
        lambda: fft.dctn(np.ones((3, 3)), axes=(0, -2)),
        r"dctn: axes \(0, -2\) name an axis twice",
    ),
    "axis of nothing": (lambda: signal.fftconvolve(V, V, axes=5), r"fftconvolve: axes 5"),
    "no kind": (lambda: linalg.pascal(3, kind=""), r"pascal: kind must be"),
    "beta of complex": (lambda: special.beta(Z, 1.0), r"beta is not defined for complex"),
    "polygamma": (lambda: special.polygamma(1.5, V), r"polygamma: n must be integers"),
    "factorial": (lambda: special.factorial(V, exact=True), r"factorial: exact must be False"),
    "bernoulli": (lambda: special.bernoulli(-1), r"bernoulli: n must not be negative, .* -1"),
    "log_ndtr": (lambda: special.log_ndtr(V, 31), r"series_order must be between 0 and 30, .* 31"),
    "bessel_jn": (lambda: special.bessel_jn(A, v=1), r"must be a scalar or a vector, .* \(2, 3\)"),
    "not square": (lambda: linalg.cholesky(A), r"cholesky: .* square matrices, .* \(2, 3\)"),
    "qr": (lambda: linalg.qr(A, mode="thin"), r"qr: mode must be one of .* 'thin'"),
    "solve": (lambda: linalg.solve(A, V, assume_a="low"), r"assume_a must be one of .* 'low'"),
    "right-hand side": (lambda: linalg.solve_triangular(np.eye(2), V), r"shape \(3,\) does not"),
    "trans": (lambda: linalg.solve_triangular(np.eye(3), V, trans=3), r"trans must be one of .* 3"),
    "toeplitz": (lambda: linalg.hankel(1.0), r"hankel: c must have an axis"),
    "hadamard": (lambda: linalg.hadamard(6), r"hadamard: n must be a power of 2, but it is 6"),
    "leslie": (lambda: linalg.leslie(V, V), r"leslie: f must have two elements .* \(3,\)"),
    "dirichlet": (lambda: stats.dirichlet.pdf(V, A), r"alpha must be a vector"),
    "multinomial": (lambda: stats.multinomial.pmf(V, 3, V), r"x must be integers, .*float32"),
    "normal": (lambda: stats.multivariate_normal.pdf(V, V, A), r"cov must have shape \(3, 3\)"),
    "rankdata": (lambda: stats.rankdata(V, "mean"), r"rankdata: method must be one of .* 'mean'"),
    "mode": (lambda: stats.mode(V, nan_policy="omit"), r"mode: nan_policy must be .* 'omit'"),
    "kde": (lambda: stats.gaussian_kde(V, "wide"), r"bw_method must be .* 'wide'"),
    "convolve": (lambda: signal.convolve(V, V, "most"), r"convolve: mode must be .* 'most'"),
    "axes": (lambda: signal.convolve(V, A), r"same number of axes, .* \(3,\) and \(2, 3\)"),
    "window": (lambda: signal.stft(V, window="round"), r"window must be 'hann', .* 'round'"),
    "noverlap": (lambda: signal.welch(V, nperseg=2, noverlap=2), r"noverlap must be below"),
    "axis of dct": (lambda: fft.dct(A, axis=5), r"dct: axis 5 is out of bounds"),
    "axes of dctn": (lambda: fft.dctn(A, axes=(0, 2)), r"dctn: axes 2 is out of bounds"),
    "axis of mode": (lambda: stats.mode(A, axis=5), r"mode: axis 5 is out of bounds"),
    "axis of detrend": (lambda: signal.detrend(A, axis=7), r"detrend: axis 7 is out of bounds"),
    "shapes": (lambda: stats.norm.logpdf(V, V[:2]), r"norm.logpdf: Incompatible .* 2 and 3"),
    "dct": (lambda: fft.dct(V, type=3), r"dct: type must be 2, .* 3"),
    "order": (lambda: ndimage.map_coordinates(V, [V], 3), r"order must be 0 or 1, but it is 3"),
    "coordinates": (lambda: ndimage.map_coordinates(A, [V], 1), r"each of the 2 axes .* are 1"),
    "vq": (lambda: vq.vq(A, V), r"vq: obs and code_book .* \(2, 3\) and \(3,\)"),
    "grid": (lambda: interpolate.RegularGridInterpolator((V,), A), r"points must be a vector"),
    "minimize": (lambda: optimize.minimize(np.sum, V, method="Newton"), r"method .* 'Newton'"),
    "option": (
        lambda: optimize.minimize(np.sum, V, method="BFGS", options={"xtol": 1}),
        r"options of BFGS are .* 'xtol'",
    ),
    "start": (
        lambda: optimize.minimize(np.sum, A, method="BFGS"),
        r"x0 must be a vector of floats",
    ),
    "cg": (lambda: sparse.cg(A, V), r"cg: A must be a function or a square matrix, .* \(2, 3\)"),
    "x0": (lambda: sparse.cg(np.eye(3), V, x0=A), r"x0 must have the structure and shapes of b"),
    "euler": (lambda: Rotation.from_euler("xxz", V), r"consecutive axes must differ, .* 'xxz'"),
    "letters": (lambda: Rotation.from_euler("xYz", V), r"letters of 'xyz' .* 'xYz'"),
    "resize": (lambda: image.resize(A, (3,), "linear"), r"resize: shape must have a size for each"),
    "method": (lambda: image.resize(A, (3, 3), "smooth"), r"method must be one of .* 'smooth'"),
    "segments": (lambda: ops.segment_sum(V, V), r"segment_sum: segment_ids must be integers"),
    "count": (lambda: ops.segment_sum(V, I, -1), r"num_segments must not be negative, .* -1"),
    "unravel": (lambda: flatten_util.ravel_pytree([V, V])[1](V), r"must have shape \(6,\)"),
}
TYPES = {
    "ndtr": (lambda: special.ndtr(I), r"ndtr: x must be float32 or float64, but it is int64"),
    "args": (
        lambda: optimize.minimize(np.sum, V, [1.0], method="BFGS"),
        r"args must be a tuple, but it is \[1.0\]",
    ),
    "nperseg": (lambda: signal.stft(V, nperseg=2.5), r"nperseg must be an integer .* 2.5"),
    "times": (lambda: odeint(lambda y, t: y, V, I), r"odeint: t must be a vector of floats"),
    "dlpack": (lambda: dlpack.is_supported_dtype(None), r"takes a dtype or its name, but got None"),
    "lists": (lambda: special.erf([1.0]), r"erf takes arrays and scalars"),
}


@pytest.mark.parametrize("case", VALUES)
def test_wrong_values(case):
    call, text = VALUES[case]
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize("case", TYPES)
def test_wrong_types(case):
    call, text = TYPES[case]
    with pytest.raises(TypeError, match=text):
        call()
