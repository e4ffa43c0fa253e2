"""Linear algebra, with JAX's names."""

from bindax_linalg import *
from bindax_linalg import __all__ as __all__  # type: ignore[attr-defined]
