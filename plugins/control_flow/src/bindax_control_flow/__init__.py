"""Structured control flow for bindax: functions whose course depends on traced values.

>>> import numpy as np
>>> from bindax_control_flow import cond, scan
>>> def step(total, x):
...     return cond(x > 0, lambda: total + x, lambda: total), None
>>> float(scan(step, 0.0, np.array([1.0, -2.0, 3.0]))[0])
4.0
"""

from bindax_control_flow.cond.cond import *
from bindax_control_flow.cond.platform_dependent import *
from bindax_control_flow.cond.primitive import *
from bindax_control_flow.scan.associative_scan import *
from bindax_control_flow.scan.map import *
from bindax_control_flow.scan.primitive import *
from bindax_control_flow.scan.scan import *
from bindax_control_flow.solve.custom_linear_solve import *
from bindax_control_flow.solve.custom_root import *
from bindax_control_flow.while_loop.fori_loop import *
from bindax_control_flow.while_loop.primitive import *
from bindax_control_flow.while_loop.while_loop import *
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal

vars()["__all__"] = _public_names(vars())
_register_internal(__file__)
