"""Special functions."""

from bindax_core.extend import public_names as _public_names
from bindax_scipy.special import *  # noqa: F403 -- everything there is public

vars()["__all__"] = _public_names(vars())
