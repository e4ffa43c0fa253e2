"""The modules of ``bindax`` that offer the names of one module of another package.

The import system finds them in this table; there are no files of them but the stubs beside this
one, from which type checkers and editors learn the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from bindax_core.extend import missing_attribute

ALIASES = {
    "bindax.distributed": "bindax_parallel.distributed",
    "bindax.errors": "bindax_core.errors",
    "bindax.experimental.checkify": "bindax_experimental.checkify",
    "bindax.experimental.hijax": "bindax_experimental.hijax",
    "bindax.experimental.jet": "bindax_experimental.jet",
    "bindax.experimental.mesh_utils": "bindax_parallel.mesh_utils",
    "bindax.experimental.multihost_utils": "bindax_parallel.multihost_utils",
    "bindax.experimental.ode": "bindax_scipy.ode",
    "bindax.experimental.sparse": "bindax_experimental.sparse",
    "bindax.export": "bindax_export",
    "bindax.extend": "bindax_core.extend",
    "bindax.image": "bindax_scipy.image",
    "bindax.lax.linalg": "bindax_linalg",
    "bindax.meta": "bindax_axis_metadata",
    "bindax.nn": "bindax_nn",
    "bindax.nn.initializers": "bindax_nn.initializers",
    "bindax.nnx": "bindax_nnx",
    "bindax.numpy": "bindax_numpy",
    "bindax.numpy.fft": "bindax_numpy.fft",
    "bindax.numpy.linalg": "bindax_numpy.linalg",
    "bindax.optimizers": "bindax_optimizers",
    **{
        f"bindax.optimizers.{name}": f"bindax_optimizers.{name}"
        for name in (
            *("contrib", "losses", "projections", "schedules", "transforms", "tree"),
            "tree_utils",
        )
    },
    "bindax.random": "bindax_random",
    "bindax.ref": "bindax_refs",
    "bindax.tree": "bindax_core.tree",
    "bindax.tree_util": "bindax_core.tree_util",
    **{
        f"bindax.scipy.{name}": f"bindax_scipy.{name}"
        for name in (
            *("cluster", "cluster.vq", "fft", "integrate", "interpolate", "linalg", "ndimage"),
            *("optimize", "signal", "sparse", "sparse.linalg", "spatial", "spatial.transform"),
            *("special", "stats"),
        )
    },
    **{
        f"bindax.scipy.stats.{name}": f"bindax_scipy.stats.{name}"
        for name in (
            *("bernoulli", "beta", "betabinom", "binom", "cauchy", "chi2", "dirichlet", "expon"),
            *("gamma", "gennorm", "geom", "gumbel_l", "gumbel_r", "laplace", "logistic"),
            *("multinomial", "multivariate_normal", "nbinom", "norm", "pareto", "poisson", "t"),
            *("truncnorm", "uniform", "vonmises", "wrapcauchy"),
        )
    },
}
"""For each module of this kind, the one whose names it offers."""


def modules_in(package: str) -> list[str]:
    """List the modules of the table that are directly in a package.

    >>> modules_in("bindax.numpy")
    ['fft', 'linalg']
    """
    split = [name.rpartition(".") for name in ALIASES]
    return sorted(module for parent, _, module in split if parent == package)


def _public(text: str) -> str:
    """Return a docstring with the names of modules that users import."""
    for name, source in ALIASES.items():
        text = text.replace(source, name)
    return text


class _AliasLoader:
    """Fills a module with the names of another one, and with those of the modules in it."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Take the names that the other module has, and look up the others when they are used."""
        name = module.__name__
        source = import_module(ALIASES[name])
        inside = modules_in(name)
        words = dict.fromkeys([*getattr(source, "__all__", ()), *inside])
        own = vars(module)

        def look_up(word: str) -> Any:
            if word in inside:
                return import_module(f"{name}.{word}")
            if word not in words:
                raise missing_attribute(name, word, words)
            return own.setdefault(word, getattr(source, word))

        taken = words.keys() - set(inside)
        own.update({word: x for word, x in vars(source).items() if word in taken})
        own.update(__doc__=_public(source.__doc__ or ""), __all__=[*words], __getattr__=look_up)
        own["__dir__"] = lambda: sorted({*own, *words})


class _AliasFinder:
    """Finds the modules of the table.

    The base classes of ``importlib.abc`` would bring ten more modules of the standard library.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Describe a module of the table; leave the others to those who find files."""
        if fullname not in ALIASES:
            return None
        loader: Any = _AliasLoader()
        return ModuleSpec(fullname, loader, is_package=bool(modules_in(fullname)))


# The first to be asked: the directories of the stubs would be taken for namespace packages.
sys.meta_path.insert(0, _AliasFinder())
