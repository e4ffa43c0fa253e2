"""Programs and packages written for JAX run on bindax: a package that answers to ``jax``.

Three ways in: ``python -m bindax.jax PROGRAM``; ``install()`` before the first import of ``jax``;
``import_package(NAME)``, which imports one package against bindax beside the real JAX.
"""

from bindax_core.extend import register_internal as _register_internal
from bindax_jax_names._aside import import_package as import_package
from bindax_jax_names._install import install as install
from bindax_jax_names._missing import MissingName as MissingName
from bindax_jax_names._missing import missing_names as missing_names
from bindax_jax_names._run import run_program as run_program
from bindax_jax_names.settings import JAX_VERSION as JAX_VERSION

_register_internal(__file__)

__all__ = [
    "JAX_VERSION",
    "MissingName",
    "import_package",
    "install",
    "missing_names",
    "run_program",
]
