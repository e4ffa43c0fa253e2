"""The calls of the smaller modules that are compared with JAX."""

import numpy as np
from _calls import Table, operand

SIGNAL = Table(
    "scipy.signal scipy.fft",
    {
        "A": operand((9,), "float32", 1),
        "B": operand((4,), "float32", 2),
        "M": operand((5, 6), "float32", 3),
        "K": operand((2, 3), "float32", 4),
        "I": np.array([1, -2, 3, 4], np.int32),
        "Z": operand((6,), "complex64", 5),
        "L": operand((2, 40), "float32", 6),
    },
    """
    convolve(A, B) convolve(A, B, 'same') convolve(B, A, 'same') convolve(A, B, 'valid')
    convolve(M, K, 'same') convolve(A, I) convolve(A, B, method='fft') convolve(Z, Z[:3])
    correlate(A, B) correlate(A, B, 'same') correlate(M, K, 'valid') correlate(Z, Z[:3])
    convolve2d(M, K) convolve2d(M, K, 'same') correlate2d(M, K) correlate2d(M, K, 'same')
    correlate2d(M, K, 'valid') fftconvolve(A, B) fftconvolve(M, K, 'same')
    fftconvolve(M, K, 'valid')
    fftconvolve(M, M[:, :2], axes=1) fftconvolve(Z, Z[:3]) detrend(A) detrend(M, 0)
    detrend(A, type='constant') detrend(A, bp=4) detrend(I) welch(A)
    welch(L, nperseg=8) welch(L, 10.0, nperseg=8, noverlap=2, scaling='spectrum')
    welch(L, nperseg=16, average='median') welch(L, nperseg=8, detrend='linear', nfft=12)
    csd(L[0], L[1], nperseg=8) csd(L, L[::-1], nperseg=10, average='median')
    stft(L, nperseg=8) stft(L[0], 2.0, nperseg=9, noverlap=3, boundary=None, padded=False)
    stft(L, nperseg=8, boundary='even') stft(L, nperseg=8, boundary='odd', return_onesided=False)
    stft(L.T, nperseg=8, axis=0) istft(stft(L, nperseg=8)[2])[1]
    istft(stft(L[0], nperseg=8, noverlap=6)[2], nperseg=8, noverlap=6) welch(L.T, nperseg=8, axis=0)
    dct(A) dct(A, norm='ortho') dct(M, axis=0) dct(M, n=8) dct(I) dct(Z) idct(A)
    idct(B, norm='ortho')
    idct(M, axis=0) idct(M, n=9) idct(I) dctn(M) dctn(M, norm='ortho') dctn(M, axes=[1])
    dctn(M, s=[7, 8]) idctn(M) idctn(M, norm='ortho') idctn(M, axes=[0])
    """,
    """
    convolve(A, B) convolve(A, B, 'same') correlate(A, B, 'valid') fftconvolve(A, B) detrend(A)
    welch(A, nperseg=4)[1] stft(A, nperseg=4)[2] dct(A, norm='ortho') idct(A)
    """,
)
OTHERS = Table(
    "scipy.ndimage scipy.cluster.vq scipy.interpolate scipy.integrate image ops",
    {
        "A": operand((4, 5), "float32", 1),
        "X": operand((7,), "float32", 2, -2.0, 6.0),
        "Y": operand((7,), "float32", 3, -2.0, 6.0),
        "I": np.arange(20, dtype=np.int32).reshape(4, 5),
        "Q": operand((6, 2), "float32", 4),
        "C": operand((3, 2), "float32", 5),
        "G": np.array([0.0, 1.0, 2.5, 4.0], np.float32),
        "H": np.array([-1.0, 0.0, 1.0, 2.0, 5.0], np.float32),
        "T": operand((5, 3), "float32", 6),
        "S": np.array([0, 1, 1, 4, 0], np.int32),
        "D": np.array([0, 5, -1, 2, 2], np.int32),
    },
    """
    map_coordinates(A, [X, Y], 1) map_coordinates(A, [X, Y], 0)
    map_coordinates(A, [X, Y], 1, 'wrap')
    map_coordinates(A, [X, Y], 1, 'nearest') map_coordinates(A, [X, Y], 1, 'mirror')
    map_coordinates(A, [X, Y], 0, 'reflect') map_coordinates(I, [X, Y], 1, cval=7)
    map_coordinates(A, [X, Y], 1, cval=2.5) vq(Q, C) vq(Q[:, 0], C[:, 0])
    RegularGridInterpolator((G, H), A)(Q) RegularGridInterpolator((G, H), A, 'nearest')(Q)
    RegularGridInterpolator((G, H), A, fill_value=None)(Q) RegularGridInterpolator((G,), A)(X)
    RegularGridInterpolator((G, H), A, fill_value=1.0)((X, Y)) trapezoid(A) trapezoid(A, G, axis=0)
    trapezoid(A, dx=0.5) resize(A, (8, 10), 'linear') resize(A, (2, 3), 'linear')
    resize(A, (2, 3), 'linear', antialias=False) resize(A, (7, 3), 'cubic')
    resize(A, (4, 9), 'lanczos3')
    resize(A, (2, 9), 'lanczos5') resize(A, (7, 7), 'cubic-pytorch', antialias=False)
    resize(A, (3, 3), 'bicubic-pytorch') resize(A, (2, 10), 'area') resize(A, (6, 3), 'nearest')
    resize(I, (6, 3), 'nearest') resize(I, (2, 3), 'bilinear') resize(A, (4, 5), 'cubic')
    scale_and_translate(A, (6, 5), (0, 1), G[1:3], H[:2], 'linear')
    scale_and_translate(A, (3, 5), [0], G[2:3], H[:1], 'cubic', antialias=False)
    scale_and_translate(A, (4, 7), (1,), G[2:3], H[3:4], 'lanczos3') segment_sum(T, S)
    segment_sum(T, S, 6) segment_sum(T, D, 4) segment_prod(T, S, 5) segment_max(T, S, 5)
    segment_min(T, D, 4) segment_max(I[0], S, 5) segment_sum(I[0], S, num_segments=3)
    segment_min(S, S) segment_sum(T, np.sort(S), 5, indices_are_sorted=True)
    """,
    """
    map_coordinates(A, [X, Y], 1) map_coordinates(A, [X, Y], 1, 'wrap') resize(A, (2, 3), 'linear')
    resize(A, (7, 7), 'cubic') RegularGridInterpolator((G, H), A, fill_value=0.0)(Q)
    segment_sum(A, S[:4], 5) segment_max(A, S[:4], 5)
    """,
    eager="segment_sum(T, S) segment_min(S, S) "
    "segment_sum(T, np.sort(S), 5, indices_are_sorted=True)",
)
ROTATION = "Rotation.from_quat(Q)"
TRANSFORM = Table(
    "scipy.spatial.transform",
    {
        "A": operand((4, 3), "float32", 1),
        "Q": operand((4, 4), "float32", 2),
        "V": operand((3,), "float32", 3),
        "E": np.array([[0.3, 0.5, -0.2], [0.1, np.pi / 2, 0.4], [-1.0, 0.0, 0.5]], np.float32),
        "T": np.array([0.0, 1.0, 2.5, 3.0], np.float32),
    },
    f"""
    Rotation.from_euler('xyz', A).as_quat() Rotation.from_euler('XYZ', A).as_quat()
    Rotation.from_euler('zx', A[:, :2], degrees=True).as_quat()
    Rotation.from_euler('z', V[0]).as_quat()
    Rotation.from_rotvec(A).as_quat() Rotation.from_rotvec(A * 1e-5).as_quat()
    Rotation.from_rotvec(A * 20, degrees=True).as_quat() Rotation.from_mrp(A).as_quat()
    Rotation.from_matrix({ROTATION}.as_matrix()).as_matrix() {ROTATION}.as_matrix()
    {ROTATION}.as_mrp()
    {ROTATION}.as_rotvec() {ROTATION}.as_rotvec(degrees=True) {ROTATION}.as_euler('xyz')
    {ROTATION}.as_euler('XYZ') {ROTATION}.as_euler('zxz') {ROTATION}.as_euler('ZYZ', degrees=True)
    Rotation.from_euler('xyz', E).as_euler('xyz') Rotation.from_euler('XYX', E).as_euler('XYX')
    {ROTATION}.as_quat(canonical=True) {ROTATION}.as_quat(scalar_first=True)
    {ROTATION}.inv().as_quat()
    {ROTATION}.apply(V) {ROTATION}.apply(A, inverse=True) {ROTATION}.magnitude()
    ({ROTATION} * Rotation.from_rotvec(V)).as_quat() {ROTATION}[1:3].as_quat()
    Rotation.concatenate([{ROTATION}, Rotation.from_rotvec(A)]).as_quat()
    {ROTATION}.mean().as_matrix() {ROTATION}.mean(T + 1).as_matrix()
    Slerp.init(T, {ROTATION})(T * 0.9).as_quat() Slerp.init(T, {ROTATION})(1.7).as_quat()
    """,
    f"""
    Rotation.from_euler('xyz', A).as_matrix() Rotation.from_rotvec(A).as_matrix()
    Rotation.from_mrp(A).as_quat() {ROTATION}.apply(A) Rotation.from_rotvec(A).as_rotvec()
    Rotation.from_rotvec(A).as_euler('xyz')
    """,
)
