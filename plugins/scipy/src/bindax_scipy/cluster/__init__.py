"""Groups of similar points."""

from bindax_scipy.cluster import vq as vq
