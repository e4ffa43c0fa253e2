"""``jax.errors``: JAX's exception classes, where bindax raises others than those of one name."""

from __future__ import annotations

from bindax_core.errors import BackendError

__all__ = [
    "InconclusiveDimensionOperation",
    "JAXIndexError",
    "JAXTypeError",
    "JaxRuntimeError",
]

JAXTypeError = TypeError
JAXIndexError = IndexError
JaxRuntimeError = BackendError


class InconclusiveDimensionOperation(Exception):
    """Never raised: sizes of axes are integers here."""
