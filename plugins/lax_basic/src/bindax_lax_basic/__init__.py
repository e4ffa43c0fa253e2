"""Array primitives with JAX's names and semantics: the functions of ``bindax.lax``.

Functions here never promote: operands of one operation have one dtype, and one shape or none. The
operators and methods of arrays promote and broadcast.

>>> import numpy as np
>>> from bindax_lax_basic import add, sin
>>> add(sin(np.float32(0.0)), 1.0)
Array(1., dtype=float32)
"""

from bindax_core.extend import bound_functions as _bound_functions
from bindax_core.extend import former_modules as _former_modules
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_lax_basic.contract.dot_general import *
from bindax_lax_basic.contract.precision import *
from bindax_lax_basic.contract.ragged_dot import *
from bindax_lax_basic.contract.scaled_dot import *
from bindax_lax_basic.dtypes import *
from bindax_lax_basic.elementwise.accuracy import *
from bindax_lax_basic.elementwise.arithmetic import *
from bindax_lax_basic.elementwise.bit_patterns import *
from bindax_lax_basic.elementwise.bits import *
from bindax_lax_basic.elementwise.comparison import *
from bindax_lax_basic.elementwise.complex_numbers import *
from bindax_lax_basic.elementwise.conversion import *
from bindax_lax_basic.elementwise.division import *
from bindax_lax_basic.elementwise.error_functions import *
from bindax_lax_basic.elementwise.exponential import *
from bindax_lax_basic.elementwise.nextafter import *
from bindax_lax_basic.elementwise.optimization_barrier import *
from bindax_lax_basic.elementwise.polynomial import *
from bindax_lax_basic.elementwise.powers import *
from bindax_lax_basic.elementwise.remainder import *
from bindax_lax_basic.elementwise.rounding import *
from bindax_lax_basic.elementwise.selection import *
from bindax_lax_basic.elementwise.sign import *
from bindax_lax_basic.elementwise.tokens import *
from bindax_lax_basic.elementwise.trigonometry import *
from bindax_lax_basic.fourier import *
from bindax_lax_basic.gather_scatter.dimension_numbers import *
from bindax_lax_basic.gather_scatter.dynamic_slice import *
from bindax_lax_basic.gather_scatter.gather_and_scatter_add import *
from bindax_lax_basic.gather_scatter.scatter import *
from bindax_lax_basic.gather_scatter.take import *
from bindax_lax_basic.random_bits.rng_bit_generator import *
from bindax_lax_basic.random_bits.rng_uniform import *
from bindax_lax_basic.reductions.arg_reductions import *
from bindax_lax_basic.reductions.cumulative import *
from bindax_lax_basic.reductions.reduce import *
from bindax_lax_basic.reductions.reductions import *
from bindax_lax_basic.rules.operands import *
from bindax_lax_basic.shape.broadcast_and_reduce_sum import *
from bindax_lax_basic.shape.concatenate import *
from bindax_lax_basic.shape.creation import *
from bindax_lax_basic.shape.reshape import *
from bindax_lax_basic.shape.rev import *
from bindax_lax_basic.shape.slice_and_pad import *
from bindax_lax_basic.shape.split import *
from bindax_lax_basic.shape.transpose import *
from bindax_lax_basic.sorting.sort import *
from bindax_lax_basic.sorting.top_k import *
from bindax_lax_basic.window.convolution.conv_general_dilated import *
from bindax_lax_basic.window.convolution.dimension_numbers import *
from bindax_lax_basic.window.convolution.patches import *
from bindax_lax_basic.window.reduce_window.pooling import *
from bindax_lax_basic.window.reduce_window.reduce_window import *
from bindax_lax_basic.window.select_and_add import *
from bindax_lax_basic.window.select_and_scatter import *

vars()["__all__"] = _public_names(vars())

_bound_functions(vars())

_register_internal(__file__)
_former_modules(
    __name__,
    {
        "array.updates": "array.at_updates",
        "gather_scatter.windows": "gather_scatter.dimension_numbers",
        "promotion_lattice": "dtype_promotion",
        "reductions.computations": "reductions.reduction_computations",
        "window.convolution.numbers": "window.convolution.dimension_numbers",
    },
)
