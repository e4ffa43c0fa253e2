"""Mutable arrays: references that functions read and write, under all transformations.

>>> import numpy as np
>>> from bindax_refs import new_ref
>>> from bindax_transforms import jit
>>> total = new_ref(np.zeros(3))
>>> @jit
... def add(i, x):
...     total[i] += x
>>> add(1, 2.0)
>>> add(1, 0.5)
>>> total
Ref([0. , 2.5, 0. ], dtype=float64)
"""

from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_refs.functions import addupdate as addupdate
from bindax_refs.functions import empty_ref as empty_ref
from bindax_refs.functions import free_ref as free_ref
from bindax_refs.functions import freeze as freeze
from bindax_refs.functions import get as get
from bindax_refs.functions import new_ref as new_ref
from bindax_refs.functions import set as set
from bindax_refs.functions import swap as swap
from bindax_refs.ref import Ref as Ref

vars()["__all__"] = _public_names(vars())
_register_internal(__file__)
