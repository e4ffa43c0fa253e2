"""Looking into programs while they run.

>>> import bindax
>>> @bindax.jit
... def f(x):
...     bindax.debug.print("x = {}", x)
...     return 2.0 * x
>>> y = f(3.0)
x = 3.0
"""

from bindax_callbacks.debug import breakpoint as breakpoint
from bindax_callbacks.debug import callback as callback
from bindax_callbacks.debug import log as log
from bindax_callbacks.debug import print as print
from bindax_callbacks.shardings import inspect_array_sharding as inspect_array_sharding
from bindax_callbacks.shardings import visualize_array_sharding as visualize_array_sharding
from bindax_callbacks.shardings import visualize_sharding as visualize_sharding
from bindax_core.extend import public_names as _public_names

vars()["__all__"] = _public_names(vars())
