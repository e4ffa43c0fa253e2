"""Groups of similar points."""

from bindax.scipy.cluster import vq as vq

__all__ = ["vq"]
