"""Programs as files: exported with symbolic sizes, read back, called in any program."""

from bindax_core.extend import public_names as _public_names
from bindax_export import *  # noqa: F403 -- everything there is public

vars()["__all__"] = _public_names(vars())
