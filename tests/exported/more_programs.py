"""Small programs for the nights: one operation or two each, for all sizes of some axes."""

from __future__ import annotations

from typing import Any

import numpy as np

NHWC = ("NHWC", "HWIO", "NHWC")


def programs(m: Any) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Functions with the shapes of their arguments as text.

    Args:
        m: the module that has ``numpy``, ``nn``, ``lax`` and the transformations.
    """
    return {**_of_arrays(m), **_of_matrices(m), **_of_windows(m), **_of_transformations(m)}


def _of_arrays(m: Any) -> dict[str, tuple[Any, tuple[str, ...]]]:
    n, x = m.numpy, ("b,4",)
    return {
        "slices": (lambda x: (x[::2], x[-2:], x[:-1], x[1:-1], x[x.shape[0] // 2 :], x[0:2]), x),
        "repeat": (lambda x: (n.tile(x, (2, 1)), n.repeat(x, 2, axis=0), n.roll(x, 1, axis=0)), x),
        "axes": (lambda x: (n.squeeze(x[:, None], 1), n.moveaxis(x, 0, 1), n.atleast_2d(x)), x),
        "pad": (lambda x: n.pad(x, ((1, 2), (0, 0))), x),
        "split": (lambda x: n.split(x, 2, axis=1), x),
        "stack": (lambda x, y: n.stack([x, y], 1), ("b,4", "b,4")),
        "concatenate": (lambda x, y: n.concatenate([x.sum(1), y]), ("b,4", "t,")),
        "logic": (lambda x: (n.any(x > 0, 0), n.all(x > 0), n.sign(x), n.where(x > 0, x, 0)), x),
        "segments": (lambda x: n.zeros((5, 4), x.dtype).at[n.arange(x.shape[0]) % 5].add(x), x),
        "embedding": (lambda t, x: t[n.argmax(x, 1)], ("7,3", "b,5")),
        "sorted rows": (lambda x: x[n.argsort(x[:, 0])], x),
        "products": (lambda x: (n.cumsum(x, 1), n.prod(x, 1), n.median(x, axis=1), x.std(0)), x),
        "cross entropy": (
            lambda x: -(m.nn.log_softmax(x) * m.nn.one_hot(n.arange(x.shape[0]) % 4, 4)).sum(),
            x,
        ),
        "largest": (lambda x: x / n.maximum(n.abs(x).max(-1, keepdims=True), 1e-6), ("b,t,4",)),
        "dynamic slice": (lambda x: m.lax.dynamic_slice(x, (0, 1), (x.shape[0], 2)), x),
    }


def _of_matrices(m: Any) -> dict[str, tuple[Any, tuple[str, ...]]]:
    n, square = m.numpy, ("b,4,4",)
    symmetric = lambda x: x + n.swapaxes(x, -1, -2)  # noqa: E731
    return {
        "contractions": (
            lambda x, y: (n.einsum("bi,ci->bc", x, y), n.tensordot(x, y, ((1,), (1,))), x @ y.T),
            ("b,4", "t,4"),
        ),
        "causal": (
            lambda x: n.where(n.tril(n.ones((x.shape[0],) * 2, bool)), x @ x.T, 0.0),
            ("b,4",),
        ),
        "qr": (lambda x: n.abs(n.linalg.qr(x)[1]), square),
        "svd": (lambda x: n.linalg.svd(x, compute_uv=False), ("b,4,3",)),
        "eigvalsh": (lambda x: n.linalg.eigvalsh(symmetric(x)), square),
        "norm": (lambda x: n.linalg.norm(x, axis=1), ("b,4",)),
        "rfft": (lambda x: n.fft.irfft(n.fft.rfft(x, axis=1), axis=1), ("b,8",)),
    }


def _of_windows(m: Any) -> dict[str, tuple[Any, tuple[str, ...]]]:
    conv, pool = m.lax.conv_general_dilated, m.lax.reduce_window
    images = ("b,t,8,2", "3,3,2,4")
    return {
        "valid": (lambda x, w: conv(x, w, (1, 1), "VALID", dimension_numbers=NHWC), images),
        "same": (lambda x, w: conv(x, w, (1, 1), "SAME", dimension_numbers=NHWC), images),
        "transposed": (
            lambda x, w: m.lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=NHWC),
            ("b,4,4,2", "3,3,2,4"),
        ),
        "pool": (
            lambda x: pool(x, -np.inf, m.lax.max, (1, 2, 1), (1, 2, 1), "VALID"),
            ("b,6,2",),
        ),
        "gradient of conv": (
            m.grad(lambda w, x: (conv(x, w, (2, 2), "SAME", dimension_numbers=NHWC) ** 2).sum()),
            ("3,3,2,4", "b,8,8,2"),
        ),
    }


def _of_transformations(m: Any) -> dict[str, tuple[Any, tuple[str, ...]]]:
    n, x = m.numpy, ("b,4",)
    solve = lambda a, y: n.linalg.solve(a + 5 * n.eye(3, dtype=a.dtype), y)  # noqa: E731
    sines = lambda y: n.sin(y).sum()  # noqa: E731
    return {
        "vmap": (m.vmap(lambda r: n.outer(r, r).sum(0)), x),
        "vmap of solve": (m.vmap(solve), ("b,3,3", "b,3")),
        "map": (lambda x: m.lax.map(lambda r: r @ r, x), x),
        "jit": (lambda x: m.jit(lambda y: y / y.shape[0])(x) + 1, x),
        "cond": (lambda x: m.lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: -x, x), x),
        "checkpoint": (m.grad(lambda x: m.checkpoint(sines)(x)), x),
        "jvp of grad": (lambda x: m.jvp(m.grad(sines), (x,), (x,))[1], x),
        "gradient of scan": (
            m.grad(
                lambda w, xs, h: m.lax.scan(lambda h, x: (n.tanh(h @ w + x), None), h, xs)[0].sum()
            ),
            ("3,3", "6,b,3", "b,3"),
        ),
        "associative scan": (lambda x: m.lax.associative_scan(lambda a, b: a * b, x, axis=1), x),
        "attention": (lambda q: m.nn.dot_product_attention(q, q, q, is_causal=True), ("b,t,2,4",)),
    }
