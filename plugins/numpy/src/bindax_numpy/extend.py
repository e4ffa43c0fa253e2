"""Words for packages that bring functions with the promotion of ``bindax.numpy``.

>>> from bindax_core.extend import typeof
>>> x, y = inexact("hypotenuse", jnp.array([3, 4]), 1)
>>> typeof(x).str_short(), typeof(y).str_short()
('float32[2]', 'float32[]')
"""

from bindax_core.extend import public_names as _public_names
from bindax_numpy._operands import array_operand as array_operand
from bindax_numpy._operands import as_operand as as_operand
from bindax_numpy._operands import constant as constant
from bindax_numpy._operands import inexact as inexact
from bindax_numpy._operands import inexact_operand as inexact_operand
from bindax_numpy._operands import promoted as promoted
from bindax_numpy._operands import require_real as require_real
from bindax_numpy._operands import require_values as require_values
from bindax_numpy._operands import strong_operand as strong_operand
from bindax_numpy.exp_log_trigonometry import right_abs as right_abs
from bindax_numpy.exp_log_trigonometry import root as root
from bindax_numpy.ravel_pytree import ravel_pytree as ravel_pytree
from bindax_numpy.special import modified_bessel as modified_bessel

vars()["__all__"] = _public_names(vars())
