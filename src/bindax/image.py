"""Images of any number of dimensions, resampled."""

from bindax_scipy.image import ResizeMethod as ResizeMethod
from bindax_scipy.image import resize as resize
from bindax_scipy.image import scale_and_translate as scale_and_translate

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]
