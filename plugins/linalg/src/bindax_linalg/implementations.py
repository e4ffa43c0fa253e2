"""Names for the implementations of decompositions; here, each has one, LAPACK's."""

from __future__ import annotations

from enum import Enum
from typing import Any

__all__ = ["EigImplementation", "EighImplementation", "SvdAlgorithm"]


class EigImplementation(Enum):
    """Implementations of ``eig``; there is ``LAPACK``.

    >>> from bindax_linalg import eig
    >>> w, v = eig(
    ...     np.eye(2), compute_left_eigenvectors=False, implementation=EigImplementation.LAPACK
    ... )
    >>> w
    Array([1.+0.j, 1.+0.j], dtype=complex128)
    """

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(Enum):
    """Implementations of ``eigh``; there is ``QR``.

    >>> from bindax_linalg import eigh
    >>> eigh(np.eye(2), implementation=EighImplementation.QR)[1]
    Array([1., 1.], dtype=float64)
    """

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(Enum):
    """Algorithms of ``svd``; there is one, which ``QR`` stands for, too.

    >>> from bindax_linalg import svd
    >>> svd(np.eye(2), compute_uv=False, algorithm=SvdAlgorithm.QR)
    Array([1., 1.], dtype=float64)
    """

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def require_served(
    name: str, argument: str, value: Any, served: tuple[Enum, ...], error: type[Exception]
) -> None:
    """Raise for an implementation that there is not; a ``ValueError`` for what is none at all."""
    kind = type(served[0])
    if value is not None and not (isinstance(value, kind) and value in served):
        names = " or ".join([str(x) for x in served])
        raise (error if isinstance(value, kind) else ValueError)(
            f"{name}: {argument} must be None or {names}, but it is {value!r:.60}."
        )
