"""Transformations and arrays that JAX keeps in ``jax.experimental``: each is a module of its own.

>>> from bindax_experimental import checkify
>>> checkify.init_error
Error(None)
"""

from bindax_core.extend import register_internal as _register_internal
from bindax_experimental import checkify as checkify
from bindax_experimental import hijax as hijax
from bindax_experimental import jet as jet
from bindax_experimental import sparse as sparse

__all__ = ["checkify", "hijax", "jet", "sparse"]
_register_internal(__file__)
