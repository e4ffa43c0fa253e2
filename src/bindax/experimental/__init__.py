"""Names that JAX keeps here; the functions are as stable as the others."""

from bindax_callbacks import io_callback as io_callback

__all__ = ["io_callback"]
