"""Two hundred right functions of the front ends, with arguments, on which no check may fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import bindax
import bindax.numpy as bnp
from bindax import nn, nnx, optimizers
from bindax.scipy import linalg, special, stats

Draw = Callable[[np.random.Generator], Any]


def real(*shape: int, low: float = -2.0, high: float = 2.0) -> Draw:
    """Distinct values of an interval, so that nothing has ties."""

    def draw(rng: np.random.Generator) -> Any:
        count = int(np.prod(shape))
        places = (rng.permutation(count) + 0.25 + 0.5 * rng.random(count)) / max(count, 1)
        return np.asarray(low + (high - low) * places).reshape(shape).astype(np.float32)

    return draw


def positive(*shape: int) -> Draw:
    """Values from 0.2 to 3."""
    return real(*shape, low=0.2, high=3.0)


def unit(*shape: int) -> Draw:
    """Values between 0 and 1."""
    return real(*shape, low=0.1, high=0.9)


def indices(*shape: int, below: int = 3) -> Draw:
    """Integers from 0."""
    return lambda rng: rng.integers(0, below, shape).astype(np.int32)


def definite(n: int) -> Draw:
    """A symmetric matrix with eigenvalues well above 0 and apart from each other."""

    def draw(rng: np.random.Generator) -> Any:
        q = np.linalg.qr(rng.normal(size=(n, n)))[0]
        return (q * np.arange(1.0, n + 1) @ q.T).astype(np.float32)

    return draw


def regular(n: int) -> Draw:
    """A matrix that is well-conditioned."""
    return lambda rng: (3 * np.eye(n) + rng.uniform(-1, 1, (n, n))).astype(np.float32)


V, M, P, U = real(3), real(2, 3), positive(3), unit(3)
NUMPY: dict[tuple[Draw, ...], str] = {
    (M,): "sin cos tan sinh tanh arctan arcsinh exp expm1 square negative positive exp2 cbrt "
    "sinc sum mean prod std var max min amax ptp median cumsum cumprod ravel transpose fliplr "
    "flipud nansum nanmean nan_to_num abs sign floor ceil trunc rint sort argsort argmax argmin "
    "isfinite isnan signbit zeros_like ones_like atleast_2d logaddexp.reduce",
    (positive(2, 3),): "log log2 log10 log1p sqrt reciprocal",
    (unit(2, 3),): "arcsin arccos arctanh",
    (
        M,
        real(2, 3, low=0.3),
    ): "add subtract multiply divide maximum minimum arctan2 hypot logaddexp "
    "logaddexp2 fmax fmin greater less_equal not_equal copysign",
    (P, V): "power float_power",
    (V, real(3, low=1.0)): "dot inner outer vdot cross kron convolve correlate",
    (M, real(3, 2)): "matmul dot tensordot.1",
    (real(2, 3), indices(2)): "take",
    (V, real(5)): "polyval",
    (real(6),): "diff gradient ediff1d diag",
    (real(3, 3),): "trace tril triu diagonal",
    (real(4),): "vander",
}
SPECIAL: dict[tuple[Draw, ...], str] = {
    (M,): "erf erfc expit log_ndtr ndtr i0e i1e",
    (positive(3),): "gammaln digamma entr i0 i1 exp1 gamma",
    (U,): "logit ndtri erfinv",
    (P, P): "xlogy xlog1py rel_entr kl_div betaln beta gammainc zeta.2",
}
STATS: dict[tuple[Draw, ...], str] = {
    (M,): "norm.logpdf norm.pdf norm.cdf logistic.logpdf laplace.logpdf cauchy.logpdf t.5",
    (P,): "expon.logpdf gamma.2 chi2.3 pareto.1",
    (U,): "beta.23 uniform.logpdf",
}
NN: dict[tuple[Draw, ...], str] = {
    (M,): "relu sigmoid softplus silu gelu elu selu tanh softmax log_softmax celu leaky_relu "
    "hard_tanh soft_sign log_sigmoid logsumexp standardize relu6 hard_sigmoid hard_swish "
    "squareplus mish glu.even",
}
OPTIMIZERS = "sgd adam adamw rmsprop adagrad lion"
LOSSES = "squared_error l2_loss huber_loss sigmoid_binary_cross_entropy softmax_cross_entropy"


def _special_cases() -> dict[str, Callable[..., Any]]:
    """Functions that need more than their arrays."""
    return {
        "logaddexp.reduce": lambda x: bnp.logaddexp(x[0], x[1]),
        "tensordot.1": partial(bnp.tensordot, axes=1),
        "zeta.2": lambda x, q: special.zeta(x + 2.0, q),
        "t.5": lambda x: stats.t.logpdf(x, 5.0),
        "gamma.2": lambda x: stats.gamma.logpdf(x, 2.0),
        "chi2.3": lambda x: stats.chi2.logpdf(x, 3.0),
        "pareto.1": lambda x: stats.pareto.logpdf(x + 1.5, 1.0),
        "beta.23": lambda x: stats.beta.logpdf(x, 2.0, 3.0),
        "glu.even": lambda x: nn.glu(x, axis=0),
    }


def _named(module: Any, name: str) -> Callable[..., Any]:
    special_case = _special_cases().get(name)
    if special_case is not None:
        return special_case
    found = module
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def _linalg() -> Iterator[tuple[str, Callable[..., Any], tuple[Draw, ...]]]:
    yield "linalg.inv", bnp.linalg.inv, (regular(3),)
    yield "linalg.det", bnp.linalg.det, (regular(3),)
    yield "linalg.slogdet", bnp.linalg.slogdet, (regular(3),)
    yield "linalg.solve", bnp.linalg.solve, (regular(3), V)
    yield "linalg.cholesky", bnp.linalg.cholesky, (definite(3),)
    yield "linalg.eigvalsh", bnp.linalg.eigvalsh, (definite(3),)
    yield "linalg.norm", bnp.linalg.norm, (M,)
    yield "linalg.matrix_power", lambda x: bnp.linalg.matrix_power(x, 3), (regular(3),)
    yield "linalg.pinv", bnp.linalg.pinv, (real(3, 2),)
    yield "linalg.svdvals", lambda x: bnp.linalg.svd(x, compute_uv=False), (regular(3),)
    yield "linalg.qr", bnp.linalg.qr, (regular(3),)
    yield "scipy.linalg.expm", linalg.expm, (real(3, 3, low=-0.5, high=0.5),)
    yield "scipy.linalg.cho_solve", _through_cholesky, (definite(3), V)
    yield "scipy.linalg.solve_triangular", _triangular, (regular(3), V)
    yield "scipy.linalg.block_diag", linalg.block_diag, (regular(2), regular(3))
    yield "scipy.linalg.lu", lambda x: linalg.lu(x)[1:], (regular(3),)
    yield "numpy.fft.fft", bnp.fft.fft, (M,)
    yield "numpy.fft.rfft", bnp.fft.rfft, (real(6),)
    yield "numpy.interp", bnp.interp, (unit(3), lambda _: np.linspace(0, 1, 5), real(5))
    yield "numpy.where", lambda x, y: bnp.where(x > y, x, y * y), (M, M)
    yield "numpy.einsum", lambda x, y: bnp.einsum("ij,kj->ik", x, y), (M, real(4, 3))
    yield "numpy.concatenate", lambda x, y: bnp.concatenate([x, y], axis=1), (M, real(2, 2))
    yield "numpy.pad", lambda x: bnp.pad(x, 1), (M,)
    yield "numpy.clip", lambda x: bnp.clip(x, -0.7, 0.9), (M,)
    yield "numpy.roll", lambda x: bnp.roll(x, 1, axis=1), (M,)
    yield "numpy.percentile", lambda x: bnp.percentile(x, 40.0), (real(6),)
    yield "numpy.at.add", lambda x, i: bnp.asarray(x).at[i].add(2.0), (V, indices(2))
    yield "numpy.complex", lambda x, y: bnp.abs(bnp.exp(x + 1j * y)), (V, V)


def _through_cholesky(a: Any, b: Any) -> Any:
    return linalg.cho_solve(linalg.cho_factor(a, lower=True), b)


def _triangular(a: Any, b: Any) -> Any:
    return linalg.solve_triangular(a, b, lower=True)


def _one_step(optimizer: Any, params: Any, grads: Any) -> Any:
    updates, _ = optimizer.update(grads, optimizer.init(params), params)
    return optimizers.apply_updates(params, updates)


def _optimizers() -> Iterator[tuple[str, Callable[..., Any], tuple[Draw, ...]]]:
    for name in OPTIMIZERS.split():
        optimizer = getattr(optimizers, name)(1e-2)
        yield f"optimizers.{name}", partial(_one_step, optimizer), (V, real(3, low=0.5))
    for name in LOSSES.split():
        arguments = (M, unit(2, 3)) if "entropy" in name else (M, real(2, 3, low=0.3))
        yield f"optimizers.{name}", getattr(optimizers, name), arguments
    schedule = optimizers.exponential_decay(0.1, 10, 0.9)
    yield "optimizers.exponential_decay", schedule, (positive(),)


def _modules() -> Iterator[tuple[str, Callable[[nnx.Rngs], Any], tuple[Draw, ...]]]:
    def image(rng: np.random.Generator) -> Any:
        return rng.normal(size=(2, 4, 4, 3)).astype(np.float32)

    yield "nnx.Linear", lambda rngs: nnx.Linear(3, 4, rngs=rngs), (M,)
    yield "nnx.LinearGeneral", lambda rngs: nnx.LinearGeneral(3, (2, 2), rngs=rngs), (M,)
    yield "nnx.Einsum", lambda rngs: nnx.Einsum("ij,jk->ik", (3, 2), rngs=rngs), (M,)
    yield "nnx.Embed", lambda rngs: nnx.Embed(3, 4, rngs=rngs), (indices(5),)
    yield "nnx.LayerNorm", lambda rngs: nnx.LayerNorm(3, rngs=rngs), (M,)
    yield "nnx.RMSNorm", lambda rngs: nnx.RMSNorm(3, rngs=rngs), (M,)
    yield "nnx.GroupNorm", lambda rngs: nnx.GroupNorm(4, num_groups=2, rngs=rngs), (real(2, 4),)
    yield "nnx.BatchNorm", lambda rngs: nnx.BatchNorm(3, rngs=rngs), (real(4, 3),)
    yield "nnx.Dropout", lambda rngs: nnx.Dropout(0.4, rngs=rngs), (real(4, 3),)
    yield "nnx.Conv", lambda rngs: nnx.Conv(3, 2, (3, 3), rngs=rngs), (image,)
    yield "nnx.ConvTranspose", lambda rngs: nnx.ConvTranspose(3, 2, (2, 2), rngs=rngs), (image,)
    yield "nnx.Sequential", _two_layers, (M,)
    yield "nnx.MultiHeadAttention", _attention, (real(3, 4),)
    yield "nnx.LSTMCell", lambda rngs: _Cell(nnx.LSTMCell(3, 2, rngs=rngs)), (M,)
    yield "nnx.GRUCell", lambda rngs: _Cell(nnx.GRUCell(3, 2, rngs=rngs)), (M,)
    yield "nnx.PReLU", lambda rngs: nnx.PReLU(), (M,)


def _two_layers(rngs: nnx.Rngs) -> Any:
    return nnx.Sequential(nnx.Linear(3, 4, rngs=rngs), bnp.tanh, nnx.Linear(4, 2, rngs=rngs))


def _attention(rngs: nnx.Rngs) -> Any:
    return nnx.MultiHeadAttention(2, 4, decode=False, rngs=rngs)


class _Cell(nnx.Module):
    """One step of a recurrent cell from its first carry."""

    def __init__(self, cell: Any) -> None:
        self.cell = cell

    def __call__(self, x: Any) -> Any:
        carry = self.cell.initialize_carry(x.shape, bindax.nnx.Rngs(0))
        return self.cell(carry, x)[1]


def right_functions() -> dict[str, tuple[Callable[[], Any], tuple[Draw, ...]]]:
    """Makers of the functions by name, each with how their arguments are drawn."""
    found: dict[str, tuple[Callable[[], Any], tuple[Draw, ...]]] = {}
    tables = [("numpy", bnp, NUMPY), ("special", special, SPECIAL), ("stats", stats, STATS)]
    for prefix, module, table in [*tables, ("nn", nn, NN)]:
        for draws, names in table.items():
            for name in names.split():
                found[f"{prefix}.{name}"] = (partial(_named, module, name), draws)
    for name, function, draws in (*_linalg(), *_optimizers()):
        found[name] = (partial(_itself, function), draws)
    for name, make, draws in _modules():
        found[name] = (partial(_made, make), draws)
    return found


def _itself(function: Any) -> Any:
    return function


def _made(make: Callable[[nnx.Rngs], Any]) -> Any:
    return make(nnx.Rngs(0, dropout=1))
