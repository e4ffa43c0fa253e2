"""Data types: promotion, limits, and the kinds that dtypes belong to.

>>> from bindax import dtypes, random
>>> dtypes.issubdtype(random.key(0).dtype, dtypes.prng_key)
True
"""

from ml_dtypes import bfloat16 as bfloat16

from bindax_core import float0 as float0
from bindax_core.errors import TypePromotionError as TypePromotionError
from bindax_core.extend import extended as extended
from bindax_lax_basic.dtypes import canonical_dtype as canonicalize_dtype
from bindax_numpy import finfo as finfo
from bindax_numpy import iinfo as iinfo
from bindax_numpy import issubdtype as issubdtype
from bindax_numpy import promote_types as promote_types
from bindax_numpy import result_type as result_type
from bindax_numpy.dtypes import itemsize_bits as itemsize_bits
from bindax_numpy.dtypes import scalar_type_of as scalar_type_of
from bindax_random import prng_key as prng_key

__all__ = [
    "TypePromotionError",
    "bfloat16",
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "promote_types",
    "result_type",
    "scalar_type_of",
]
