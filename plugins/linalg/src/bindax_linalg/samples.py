"""Sample inputs of linear algebra, in the vocabulary of the conformance suite.

Each sample makes matrices from its operands on which derivatives exist and are of moderate size:
positive definite, with separate eigenvalues, or with a heavy diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import bindax_linalg as linalg
from bindax_core.extend import typeof
from bindax_lax_basic import add, mul, sub
from bindax_linalg import _matrices as m
from bindax_testing import EquivalentMutant, Sample, array, between, sample

Function = Callable[..., Any]
Shape = tuple[int, ...]

_PHASES = "eigenvectors and singular vectors of complex matrices are determined up to phases"
_ROTATIONS = "the columns that full_matrices adds are determined up to a rotation"
_NOT_UNIQUE = "a Schur form is not unique, and LAPACK may find another"
_NO_DERIVATIVE = "it has no derivative"
_SPECIAL = "where an element is not finite, NumPy and LAPACK differ in how far NaN spreads"
_WORST = {"compiled special values": _SPECIAL}


def heavy(x: Any, weight: float = 4.0) -> Any:
    """Matrices with a number added to their diagonals."""
    return add(x, m.scaled(m.identity_like(x), weight))


def definite(x: Any) -> Any:
    """Positive definite matrices."""
    return heavy(m.matmul(x, m.adjoint(x)), 1.0)


def separate(x: Any) -> Any:
    """Matrices with eigenvalues and singular values about 1, 2, 3 and so on."""
    shape = typeof(x).shape
    steps = np.eye(*shape[-2:]) * np.arange(1, shape[-1] + 1)
    diagonal = np.broadcast_to(steps, shape).astype(typeof(x).dtype)
    return add(m.scaled(x, 0.1), diagonal)


def triangular(x: Any) -> Any:
    """Upper triangular matrices, which are their own Schur form."""
    return m.upper_part(separate(x))


def with_zeros(x: Any) -> Any:
    """Matrices with zeros below the diagonal, but not in all of a column."""
    places = np.eye(typeof(x).shape[-1], k=-1)
    return sub(x, mul(x, np.broadcast_to(places, typeof(x).shape).astype(typeof(x).dtype)))


@dataclass(frozen=True, eq=False)
class Prepared:
    """A function of linear algebra, called on what ``prepare`` makes of the first operand."""

    function: Function
    prepare: Function
    arguments: Mapping[str, Any]

    def __call__(self, x: Any, *others: Any) -> Any:
        """Call the function."""
        return self.function(self.prepare(x), *others, **self.arguments)


def _same(x: Any) -> Any:
    return x


_DTYPES = ("float32", "float64", "complex64", "complex128")


def _case(
    name: str,
    prepare: Function,
    shapes: tuple[Shape, ...],
    dtypes: tuple[str, ...] = _DTYPES[1::2],
    skip: Mapping[str, str] = _WORST,
    **arguments: Any,
) -> Iterator[Sample]:
    function = Prepared(getattr(linalg, name), prepare, arguments)
    given = "".join(f"-{key}={value}" for key, value in arguments.items())
    given += f"-of-{prepare.__name__}" if prepare in (triangular, with_zeros) else ""
    for dtype in dtypes:
        operands = [array(shape, dtype, between(-1.0, 1.0)) for shape in shapes]
        types = "-".join(f"{dtype}[{','.join(map(str, shape))}]" for shape in shapes)
        yield sample(function, *operands, label=f"{name}-{types}{given}", skip=dict(skip))


def _systems() -> Iterator[Sample]:
    yield from _case("cholesky", definite, ((2, 3, 3),), _DTYPES)
    yield from _case("cholesky", definite, ((0, 0),), _DTYPES[1:2])
    for left in (True, False):
        for lower in (True, False):
            for flag in ("transpose_a", "conjugate_a", "unit_diagonal"):
                arguments: dict[str, Any] = {"left_side": left, "lower": lower, flag: True}
                shapes = (2, 3, 3), ((2, 3, 2) if left else (2, 2, 3))
                yield from _case("triangular_solve", heavy, shapes, ("complex128",), **arguments)
    yield from _case("triangular_solve", heavy, ((3, 3), (2, 3)), _DTYPES)
    diagonals = (2, 4), (2, 4), (2, 4), (2, 4, 3)
    for dtype in _DTYPES:
        operands = [
            array(shape, dtype, between(low, high))
            for shape, (low, high) in zip(
                diagonals, ((-1, 1), (3, 4), (-1, 1), (-1, 1)), strict=True
            )
        ]
        label = f"tridiagonal_solve-{dtype}[2,4]"
        yield sample(linalg.tridiagonal_solve, *operands, label=label, skip=_WORST)


def _factorizations() -> Iterator[Sample]:
    for shape in ((2, 3, 3), (2, 4), (4, 2)):
        yield from _case("lu", heavy, (shape,))
        yield from _case("qr", heavy, (shape,), full_matrices=False)
    yield from _case("lu", heavy, ((3, 3),), ("float32", "complex64"))
    yield from _case("qr", heavy, ((3, 3),), ("float32", "complex64"))
    yield from _case("qr", separate, ((2, 3, 3),), pivoting=True)
    added = {"jvp": _ROTATIONS, "second order": _ROTATIONS}
    yield from _case("qr", heavy, ((4, 2),), skip={**_WORST, **added})
    yield from _case("householder_product", _same, ((2, 4, 3), (2, 2)))
    pivots = array((2, 3), "int32", between(0, 3))
    yield sample(
        linalg.lu_pivots_to_permutation, pivots, permutation_size=4, label="lu_pivots-int32[2,3]"
    )


def _spectra() -> Iterator[Sample]:
    phases = {"jvp": _PHASES, "second order": _PHASES}
    added = {"jvp": _ROTATIONS, "second order": _ROTATIONS, "compiled": _ROTATIONS}
    for dtype, skip in (("float64", _WORST), ("complex128", {**_WORST, **phases})):
        kind = (dtype,)
        yield from _case("eigh", separate, ((2, 3, 3),), kind, skip)
        yield from _case(
            "eigh", separate, ((3, 3),), kind, skip, lower=False, symmetrize_input=False
        )
        for shape in ((2, 3, 3), (2, 4), (4, 2)):
            yield from _case("svd", separate, (shape,), kind, skip, full_matrices=False)
            yield from _case("svd", separate, (shape,), kind, compute_uv=False)
        yield from _case("svd", separate, ((4, 2),), kind, {**skip, **added})
        yield from _case("eig", separate, ((2, 3, 3),), kind, enable_eigvec_derivs=True)
    wanted = ("compute_left_eigenvectors", "compute_right_eigenvectors")
    values: dict[str, Any] = dict.fromkeys(wanted, False)
    yield from _case("eig", separate, ((3, 3),), _DTYPES, **values)
    yield from _case("eigh", separate, ((3, 3),), ("float32",))
    yield from _case("svd", separate, ((3, 3),), ("float32",))
    fixed = {**_WORST, "vmap of others": _NO_DERIVATIVE}
    for vectors in (True, False):
        found: dict[str, Any] = {"compute_schur_vectors": vectors}
        skip = {**fixed, "compiled": _NOT_UNIQUE}
        yield from _case("schur", separate, ((2, 3, 3),), skip=skip, **found)
        # In programs it gets matrices that are not triangular.
        skip = {**fixed, "generated programs": _NOT_UNIQUE}
        yield from _case("schur", triangular, ((2, 3, 3),), skip=skip, **found)
    for prepare in (_same, with_zeros):
        yield from _case("hessenberg", prepare, ((2, 4, 4),), skip=fixed)
    for lower in (True, False):
        yield from _case("tridiagonal", _same, ((2, 4, 4),), skip=fixed, lower=lower)


def _equivalent_mutants() -> Iterator[EquivalentMutant]:
    """The mistakes in rules that no check can notice."""
    yield EquivalentMutant(
        "eigh", "*", "flipped sort_eigenvalues", "eigenvalues are in ascending order in any case"
    )
    for kind in ("impl", "lowering.stablehlo"):
        yield EquivalentMutant(
            "eig", kind, "flipped enable_eigvec_derivs", "the rule for derivatives alone reads it"
        )
    yield EquivalentMutant(
        "qr", "lowering.stablehlo", "flipped full_matrices", "the types of the results say the same"
    )


def linalg_samples() -> Iterator[Sample]:
    """Every sample of the package."""
    yield from _systems()
    yield from _factorizations()
    yield from _spectra()


def conformance_samples() -> Iterator[Sample | EquivalentMutant]:
    """Every sample of the package, and the mistakes that no check can notice."""
    yield from _equivalent_mutants()
    yield from linalg_samples()
