"""The modules that ``import_package`` imports: those of packages for JAX, made against bindax.

``bindax_jax_names.beside.optax`` is optax on bindax; a pickle that names a class of it loads where
optax is installed.
"""

import sys

from bindax_jax_names._aside import BesideFinder

if not any(isinstance(finder, BesideFinder) for finder in sys.meta_path):
    sys.meta_path.insert(0, BesideFinder())
