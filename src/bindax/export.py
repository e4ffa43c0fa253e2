"""Programs as files: exported with symbolic sizes, read back, called in any program."""

from bindax_export import *  # noqa: F403 -- the package says in __all__ what is public
from bindax_export import __all__ as __all__
