"""Values that processes exchange outside of programs, and arrays between one process and all."""

from bindax_parallel.multihost_utils import *  # noqa: F403 -- the module says in __all__
from bindax_parallel.multihost_utils import __all__ as __all__
