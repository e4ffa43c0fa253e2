"""Looking into programs while they run.

>>> import bindax
>>> @bindax.jit
... def f(x):
...     bindax.debug.print("x = {}", x)
...     return 2.0 * x
>>> y = f(3.0)
x = 3.0
"""

from bindax_callbacks.debug import callback as callback
from bindax_callbacks.debug import log as log
from bindax_callbacks.debug import print as print

__all__ = ["callback", "log", "print"]
