"""The operations of bindax: array primitives and control flow, with JAX's names."""

import typing as _typing
from importlib import import_module as _import_module

from bindax_core.extend import missing_attribute as _missing_attribute
from bindax_lax_basic import *

if _typing.TYPE_CHECKING:
    from bindax.lax import linalg as linalg
    from bindax_control_flow import *
    from bindax_parallel import *
    from bindax_special import *
    from bindax_transforms import composite as composite
    from bindax_transforms import composite_p as composite_p
    from bindax_transforms import dce_sink as dce_sink
    from bindax_transforms import dce_sink_p as dce_sink_p
    from bindax_transforms import sharding_constraint_p as sharding_constraint_p
    from bindax_transforms import stage as stage
    from bindax_transforms import with_sharding_constraint as with_sharding_constraint

_LAZY = {
    "bindax_control_flow": (
        *("associative_scan", "cond", "cond_p", "custom_linear_solve", "custom_root", "fori_loop"),
        *("linear_solve_p", "map", "platform_dependent", "platform_index_p", "scan", "scan_p"),
        *("switch", "while_loop", "while_p"),
    ),
    "bindax_special": (
        *("bessel_i0e", "bessel_i0e_p", "bessel_i1e", "bessel_i1e_p", "betainc"),
        *("digamma", "digamma_p", "igamma", "igamma_grad_a", "igamma_grad_a_p", "igamma_p"),
        *("igammac", "igammac_p", "lgamma", "lgamma_p", "polygamma", "polygamma_p"),
        *("random_gamma_grad", "random_gamma_grad_p", "regularized_incomplete_beta_p"),
        *("zeta", "zeta_p"),
    ),
    "bindax_parallel": (
        *("all_gather", "all_gather_p", "all_to_all", "all_to_all_p", "axis_index", "axis_size"),
        *("pbroadcast", "pcast", "pmax", "pmax_p", "pmean", "pmin", "pmin_p", "ppermute"),
        "ppermute_p",
        *("pshuffle", "psum", "psum_p", "psum_scatter", "psum_scatter_p"),
        *("psum_scatter_start", "pswapaxes"),
        *("pvary_p", "shard_map_p"),
    ),
    "bindax_transforms": (
        *("composite", "composite_p", "dce_sink", "dce_sink_p", "sharding_constraint_p", "stage"),
        "with_sharding_constraint",
    ),
}
"""The names of packages that the first use of one loads."""

__all__ = [name for name in list(vars()) if not name.startswith("_")]
__all__ += [*(name for names in _LAZY.values() for name in names), "linalg"]


def __getattr__(name: str) -> _typing.Any:
    if name == "linalg":
        return _import_module("bindax.lax.linalg")
    for package, names in _LAZY.items():
        if name in names:
            return getattr(_import_module(package), name)
    raise _missing_attribute(__name__, name, __all__)


def __dir__() -> list[str]:
    return list(__all__)
