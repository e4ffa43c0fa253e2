"""Functions on pytrees: nested containers of arrays."""

from bindax_core.tree import *  # noqa: F403 -- the module says in __all__ what is public
from bindax_core.tree import __all__ as __all__
