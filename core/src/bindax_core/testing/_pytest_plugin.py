"""Where the pytest plugin was; for environments that were installed before it moved."""

from bindax_pytest import *  # noqa: F403
