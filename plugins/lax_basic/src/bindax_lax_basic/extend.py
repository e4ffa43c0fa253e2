"""Words for the cards of primitives, for packages that bring array primitives of their own.

>>> import numpy as np
>>> from bindax_core.extend import lowering, primitive, transpose
>>> def softsign(x):
...     return softsign_p.bind(x)
>>> softsign_p = primitive(
...     "example.softsign",
...     *elementwise("softsign", softsign, lambda x: x / (1 + np.abs(x)), FLOAT),
...     derivative(softsign, lambda x, y: (1 - abs(y)) ** 2),
...     transpose.absent("not linear"),
...     lowering["stablehlo"](composition(lambda x: x / (1 + abs(x)))),
... )
>>> softsign(np.float32(1.0))
Array(0.5, dtype=float32)
"""

from bindax_lax_basic._batching import align_batch_axes as align_batch_axes
from bindax_lax_basic._batching import batch_first as batch_first
from bindax_lax_basic._batching import elementwise_batch as elementwise_batch
from bindax_lax_basic._batching import reduction_batch as reduction_batch
from bindax_lax_basic._derivatives import derivative as derivative
from bindax_lax_basic._derivatives import partials as partials
from bindax_lax_basic._elementwise import composition as composition
from bindax_lax_basic._elementwise import elementwise as elementwise
from bindax_lax_basic._linear import linear as linear
from bindax_lax_basic._linear import multilinear as multilinear
from bindax_lax_basic._linear import no_derivative as no_derivative
from bindax_lax_basic._linear import zero_tangent as zero_tangent
from bindax_lax_basic._lowering import booleans as booleans
from bindax_lax_basic._lowering import full as full
from bindax_lax_basic._lowering import integers as integers
from bindax_lax_basic._lowering import operation as operation
from bindax_lax_basic._lowering import same_shape as same_shape
from bindax_lax_basic._numpy import exact as exact
from bindax_lax_basic._numpy import quiet as quiet
from bindax_lax_basic._operands import adopt_dtype as adopt_dtype
from bindax_lax_basic._operands import adopt_type as adopt_type
from bindax_lax_basic._operands import broadcast_arrays as broadcast_arrays
from bindax_lax_basic._operands import constant as constant
from bindax_lax_basic._operands import promote_dtypes as promote_dtypes
from bindax_lax_basic._types import axes_argument as axes_argument
from bindax_lax_basic._types import axis_argument as axis_argument
from bindax_lax_basic._types import common_shape as common_shape
from bindax_lax_basic._types import elementwise_type as elementwise_type
from bindax_lax_basic._types import require_kind as require_kind
from bindax_lax_basic._types import require_same_dtype as require_same_dtype
from bindax_lax_basic._types import shape_argument as shape_argument
from bindax_lax_basic._types import static_ints as static_ints
from bindax_lax_basic.arithmetic import unbroadcast as unbroadcast
from bindax_lax_basic.axes import reduction_lowering as reduction_lowering
from bindax_lax_basic.conversion import same_dims as same_dims
from bindax_lax_basic.dtypes import ANY as ANY
from bindax_lax_basic.dtypes import BITS as BITS
from bindax_lax_basic.dtypes import BOOL as BOOL
from bindax_lax_basic.dtypes import COMPLEX as COMPLEX
from bindax_lax_basic.dtypes import FLOAT as FLOAT
from bindax_lax_basic.dtypes import INEXACT as INEXACT
from bindax_lax_basic.dtypes import INTEGER as INTEGER
from bindax_lax_basic.dtypes import NUMBER as NUMBER
from bindax_lax_basic.dtypes import ORDERED as ORDERED
