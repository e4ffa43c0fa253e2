"""Images of any number of dimensions: values between the elements of an array."""

from bindax_scipy.ndimage import *  # noqa: F403 -- everything there is public
from bindax_scipy.ndimage import __all__ as __all__
