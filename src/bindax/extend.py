"""The door for packages that bring operations, containers, backends or transformations."""

from bindax_core.extend import *  # noqa: F403 -- everything there is public
from bindax_core.extend import __getattr__ as __getattr__
