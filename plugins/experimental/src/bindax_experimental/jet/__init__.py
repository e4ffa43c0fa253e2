"""Taylor mode: the derivatives of a function along a curve, of all orders at once.

>>> import bindax_numpy as jnp
>>> y, (first, second, third) = jet(jnp.exp, (0.0,), ((1.0, 0.0, 0.0),))
>>> [float(term) for term in (y, first, second, third)]
[1.0, 1.0, 1.0, 1.0]
"""

from bindax_experimental.jet.interpreter import jet, taylor
from bindax_experimental.jet.series import Taylor, fact

__all__ = ["Taylor", "fact", "jet", "taylor"]
