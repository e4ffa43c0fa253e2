"""Arrays of which only some elements are stored, and what is computed with them."""

from bindax_experimental.sparse import *  # noqa: F403 -- the package says what is public
from bindax_experimental.sparse import __all__ as __all__
