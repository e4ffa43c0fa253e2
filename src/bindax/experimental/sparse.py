"""Arrays of which only some elements are stored, and what is computed with them."""

from bindax_core.extend import public_names as _public_names
from bindax_experimental.sparse import *  # noqa: F403 -- the package says what is public

vars()["__all__"] = _public_names(vars())
