"""Vector quantization."""

from bindax_scipy.cluster.vq import vq as vq

__all__ = ["vq"]
