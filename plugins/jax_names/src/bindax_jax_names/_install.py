"""``install``: from then on, ``import jax`` gives the alias."""

from __future__ import annotations

import os
import sys

from bindax_core import config
from bindax_jax_names._finder import AliasFinder, is_alias_installed, real_jax


def install() -> None:
    """Make ``import jax`` give the alias in this process, with JAX's rules for dtypes.

    Call it before the first import of ``jax`` and of packages that import it. Calling it again
    changes nothing.

    Raises:
        ImportError: when the real JAX is loaded already; two of a name cannot be told apart.

    >>> import bindax_jax_names
    >>> callable(bindax_jax_names.install)
    True
    """
    if is_alias_installed():
        return
    real = real_jax()
    if real is not None:
        raise ImportError(
            f"bindax.jax_names.install: the real JAX {getattr(real, '__version__', '')} is loaded "
            f"already, from {getattr(real, '__file__', '?')}; packages that were imported with it "
            f"would mix the two. Call install() before anything imports jax, start the program "
            f"with `python -m bindax.jax PROGRAM`, or import a single package beside the real JAX "
            f"with bindax.jax_names.import_package(NAME)."
        )
    from bindax_jax_names.shims.type_names import name_types

    sys.meta_path.insert(0, AliasFinder())
    use_rules_of_jax()
    # Not for single packages: beside the real JAX, the types keep the names that tell them apart.
    name_types()


def use_rules_of_jax() -> None:
    """Set what JAX decides another way than bindax: 32 bits unless 64 are enabled.

    Types of arrays get the attributes that they have in JAX.
    """
    from bindax_jax_names.shims.avals import add_attributes

    add_attributes()
    config.conventions = "jax"
    text = os.environ.get("JAX_ENABLE_X64", "").strip().lower()
    config.enable_x64 = text not in ("", "0", "false", "no", "off", "n", "f")
