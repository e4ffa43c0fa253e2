"""Several processes that compute together, each with devices of its own."""

from bindax_parallel.distributed import initialize as initialize
from bindax_parallel.distributed import is_initialized as is_initialized
from bindax_parallel.distributed import shutdown as shutdown

__all__ = ["initialize", "is_initialized", "shutdown"]
