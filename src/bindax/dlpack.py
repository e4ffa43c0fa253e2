"""Arrays of other libraries, by the DLPack protocol."""

from bindax_numpy.dlpack import from_dlpack as from_dlpack
from bindax_numpy.dlpack import is_supported_dtype as is_supported_dtype

__all__ = ["from_dlpack", "is_supported_dtype"]
