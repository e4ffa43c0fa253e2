"""Parts of the definitions of primitives, for packages that bring array primitives of their own.

>>> import numpy as np
>>> from bindax_core.extend import primitive, rules
>>> def softsign(x):
...     return softsign_p.bind(x)
>>> softsign_p = primitive(
...     "example.softsign",
...     *elementwise("softsign", lambda x: x / (1 + np.abs(x)), FLOAT),
...     derivative(lambda x, y: (1 - abs(y)) ** 2),
...     rules.transpose.absent("not linear"),
...     rules.lowering["stablehlo"](composition(lambda x: x / (1 + abs(x)))),
... )
>>> softsign(np.float32(1.0))
Array(0.5, dtype=float32)
"""

from bindax_lax_basic.array import comparisons as comparisons
from bindax_lax_basic.array import operators as operators
from bindax_lax_basic.array import reductions as reductions
from bindax_lax_basic.array.dynamic_slices import ds as ds
from bindax_lax_basic.array.reductions import averaged as averaged
from bindax_lax_basic.array.reductions import initial_operand as initial_operand
from bindax_lax_basic.array.reductions import mask_operand as mask_operand
from bindax_lax_basic.array.reductions import reduced as reduced
from bindax_lax_basic.array.reductions import refuse_out as refuse_out
from bindax_lax_basic.array.reductions import running as running
from bindax_lax_basic.array.reductions import selected as selected
from bindax_lax_basic.array.values import as_operand as as_operand
from bindax_lax_basic.array.values import from_value as from_value
from bindax_lax_basic.array.values import settled as settled
from bindax_lax_basic.dtypes import ANY as ANY
from bindax_lax_basic.dtypes import BITS as BITS
from bindax_lax_basic.dtypes import BOOL as BOOL
from bindax_lax_basic.dtypes import COMPLEX as COMPLEX
from bindax_lax_basic.dtypes import FLOAT as FLOAT
from bindax_lax_basic.dtypes import INEXACT as INEXACT
from bindax_lax_basic.dtypes import INTEGER as INTEGER
from bindax_lax_basic.dtypes import NUMBER as NUMBER
from bindax_lax_basic.dtypes import ORDERED as ORDERED
from bindax_lax_basic.dtypes import DType as DType
from bindax_lax_basic.dtypes import Promotion as Promotion
from bindax_lax_basic.dtypes import canonical_dtype as canonical_dtype
from bindax_lax_basic.dtypes import default_dtype as default_dtype
from bindax_lax_basic.dtypes import float32 as float32
from bindax_lax_basic.dtypes import inexact_dtype as inexact_dtype
from bindax_lax_basic.dtypes import integer_limits as integer_limits
from bindax_lax_basic.dtypes import is_complex as is_complex
from bindax_lax_basic.dtypes import is_inexact as is_inexact
from bindax_lax_basic.dtypes import is_integer as is_integer
from bindax_lax_basic.dtypes import joined_dtype as joined_dtype
from bindax_lax_basic.dtypes import kind_of as kind_of
from bindax_lax_basic.dtypes import largest as largest
from bindax_lax_basic.dtypes import named_dtype as named_dtype
from bindax_lax_basic.dtypes import promote_avals as promote_avals
from bindax_lax_basic.dtypes import promote_types as promote_types
from bindax_lax_basic.dtypes import real_dtype as real_dtype
from bindax_lax_basic.dtypes import result_type as result_type
from bindax_lax_basic.dtypes import smallest as smallest
from bindax_lax_basic.dtypes import summed_dtype as summed_dtype
from bindax_lax_basic.elementwise.arithmetic import unbroadcast as unbroadcast
from bindax_lax_basic.elementwise.bit_patterns import bits_of as bits_of
from bindax_lax_basic.elementwise.conversion import compare as compare
from bindax_lax_basic.elementwise.conversion import convert as convert
from bindax_lax_basic.elementwise.conversion import same_dims as same_dims
from bindax_lax_basic.elementwise.error_functions import exp_of_square as exp_of_square
from bindax_lax_basic.elementwise.error_functions import scaled_erfc as scaled_erfc
from bindax_lax_basic.elementwise.powers import by_squaring as by_squaring
from bindax_lax_basic.elementwise.selection import select_scalars as select_scalars
from bindax_lax_basic.rules.batching import align_batch_axes as align_batch_axes
from bindax_lax_basic.rules.batching import batch_first as batch_first
from bindax_lax_basic.rules.batching import elementwise_batch as elementwise_batch
from bindax_lax_basic.rules.batching import leading_batch as leading_batch
from bindax_lax_basic.rules.composites import composite_batch as composite_batch
from bindax_lax_basic.rules.composites import composite_impl as composite_impl
from bindax_lax_basic.rules.composites import composite_jvp as composite_jvp
from bindax_lax_basic.rules.composites import composite_tangents as composite_tangents
from bindax_lax_basic.rules.elementwise import composition as composition
from bindax_lax_basic.rules.elementwise import derivative as derivative
from bindax_lax_basic.rules.elementwise import elementwise as elementwise
from bindax_lax_basic.rules.elementwise import nonlinear as nonlinear
from bindax_lax_basic.rules.elementwise import of_real as of_real
from bindax_lax_basic.rules.elementwise import partials as partials
from bindax_lax_basic.rules.errors import ComplexOperandError as ComplexOperandError
from bindax_lax_basic.rules.errors import DivisorError as DivisorError
from bindax_lax_basic.rules.errors import DtypeError as DtypeError
from bindax_lax_basic.rules.evaluation import NumPyArray as NumPyArray
from bindax_lax_basic.rules.evaluation import choose as choose
from bindax_lax_basic.rules.evaluation import exact as exact
from bindax_lax_basic.rules.evaluation import in_double as in_double
from bindax_lax_basic.rules.evaluation import polynomial as polynomial
from bindax_lax_basic.rules.linear import linear as linear
from bindax_lax_basic.rules.linear import multilinear as multilinear
from bindax_lax_basic.rules.linear import no_derivative as no_derivative
from bindax_lax_basic.rules.linear import zero_tangent as zero_tangent
from bindax_lax_basic.rules.lowering import Lowering as Lowering
from bindax_lax_basic.rules.lowering import booleans as booleans
from bindax_lax_basic.rules.lowering import full as full
from bindax_lax_basic.rules.lowering import inlined as inlined
from bindax_lax_basic.rules.lowering import integers as integers
from bindax_lax_basic.rules.lowering import operation as operation
from bindax_lax_basic.rules.lowering import same_shape as same_shape
from bindax_lax_basic.rules.operands import adopt_dtype as adopt_dtype
from bindax_lax_basic.rules.operands import adopt_type as adopt_type
from bindax_lax_basic.rules.operands import broadcast_arrays as broadcast_arrays
from bindax_lax_basic.rules.operands import constant as constant
from bindax_lax_basic.rules.operands import object_to_ranks as object_to_ranks
from bindax_lax_basic.rules.operands import promote_dtypes as promote_dtypes
from bindax_lax_basic.rules.operands import promote_inexact as promote_inexact
from bindax_lax_basic.rules.operands import scalar_array as scalar_array
from bindax_lax_basic.rules.sharding import batched as batched
from bindax_lax_basic.rules.types import axes_argument as axes_argument
from bindax_lax_basic.rules.types import axis_argument as axis_argument
from bindax_lax_basic.rules.types import common_shape as common_shape
from bindax_lax_basic.rules.types import describe as describe
from bindax_lax_basic.rules.types import elementwise_type as elementwise_type
from bindax_lax_basic.rules.types import larger as larger
from bindax_lax_basic.rules.types import rank_of as rank_of
from bindax_lax_basic.rules.types import require_kind as require_kind
from bindax_lax_basic.rules.types import require_same_dtype as require_same_dtype
from bindax_lax_basic.rules.types import shape_argument as shape_argument
from bindax_lax_basic.rules.types import smaller as smaller
from bindax_lax_basic.rules.types import static_int as static_int
from bindax_lax_basic.rules.types import static_ints as static_ints
from bindax_lax_basic.rules.wider_types import in_wider as in_wider
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_axis as broadcast_axis
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to as broadcast_to
from bindax_lax_basic.shape.broadcast_and_reduce_sum import reduction_batch as reduction_batch
from bindax_lax_basic.shape.broadcast_and_reduce_sum import reduction_lowering as reduction_lowering
from bindax_lax_basic.shape.broadcast_and_reduce_sum import sum_axes as sum_axes
from bindax_lax_basic.shape.creation import filled as filled
from bindax_lax_basic.shape.creation import placed_as as placed_as
from bindax_lax_basic.shape.creation import scalar as scalar
from bindax_lax_basic.shape.transpose import moveaxis as moveaxis

__all__ = [name for name in list(vars()) if not name.startswith("_")]
