"""Initial values of parameters: functions of a key, a shape and a dtype."""

from bindax_nn.initializers import *  # noqa: F403 -- the package says in __all__ what is public
from bindax_nn.initializers import __all__ as __all__
