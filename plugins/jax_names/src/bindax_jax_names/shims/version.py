"""``jax.version``: the version of JAX whose names the alias has."""

from bindax_jax_names._table import JAX_VERSION

__version__ = JAX_VERSION
__version_info__ = tuple(int(part) for part in JAX_VERSION.split("."))
