"""The operations of bindax: array primitives and control flow, with JAX's names."""

from bindax_control_flow import *  # noqa: F403 -- everything there is public
from bindax_lax_basic import *  # noqa: F403 -- everything there is public
