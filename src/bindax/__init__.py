"""Composable function transformations for Python array programs, built from plugins.

``import bindax`` gives the transformations; ``bindax.lax`` the operations, ``bindax.tree`` and
``bindax.tree_util`` the functions on nested containers, ``bindax.extend`` what packages need that
bring operations, containers, backends or transformations of their own.

>>> import bindax
>>> from bindax import lax
>>> def f(x):
...     return lax.sin(x) * 2.0
>>> float(bindax.grad(f)(0.0))
2.0

Settings are context managers, too:

>>> with bindax.default_matmul_precision("highest"), bindax.numpy_dtype_promotion("strict"):
...     float(bindax.numpy.sin(0.0))
0.0
>>> with bindax.default_prng_impl("rbg"), bindax.threefry_partitionable(True):
...     with bindax.legacy_prng_key("error"):
...         bindax.random.key(0).dtype
key<rbg>
>>> with bindax.remove_size_one_mesh_axis_from_type(True):
...     lax.add(1.0, 2.0)
Array(3., dtype=float64, weak_type=True)
>>> with bindax.transfer_guard_host_to_device("allow"), bindax.log_compiles(False):
...     with bindax.transfer_guard_device_to_host("allow"), bindax.debug_infs():
...         float(bindax.jit(bindax.numpy.sin)(0.0))
0.0
"""

import typing as _typing
from importlib import import_module as _import_module

from bindax import _aliases as _aliases  # by which modules are found that have no file
from bindax_core import ClosedJaxpr as ClosedJaxpr
from bindax_core import Jaxpr as Jaxpr
from bindax_core import ShapedArray as ShapedArray
from bindax_core import ShapeDtypeStruct as ShapeDtypeStruct
from bindax_core import block_until_ready as block_until_ready
from bindax_core import configure_plugins as configure_plugins
from bindax_core import default_backend as default_backend
from bindax_core import default_device as default_device
from bindax_core import device_count as device_count
from bindax_core import device_get as device_get
from bindax_core import device_put as device_put
from bindax_core import devices as devices
from bindax_core import disable_x64 as disable_x64
from bindax_core import effects_barrier as effects_barrier
from bindax_core import enable_x64 as enable_x64
from bindax_core import eval_jaxpr as eval_jaxpr
from bindax_core import find_primitive as find_primitive
from bindax_core import find_transformation as find_transformation
from bindax_core import float0 as float0
from bindax_core import live_arrays as live_arrays
from bindax_core import load_plugins as load_plugins
from bindax_core import plugin_settings as plugin_settings
from bindax_core import refresh_plugins as refresh_plugins
from bindax_core import transfer_guard as transfer_guard
from bindax_core import transfer_guard_device_to_host as transfer_guard_device_to_host
from bindax_core import transfer_guard_host_to_device as transfer_guard_host_to_device
from bindax_core import transformation_names as transformation_names
from bindax_core import typecheck_jaxpr as typecheck_jaxpr
from bindax_core import typeof as typeof
from bindax_core.errors import DerivedRuleNotice as DerivedRuleNotice
from bindax_core.extend import Setting as _Setting
from bindax_core.extend import missing_attribute as _missing_attribute

if _typing.TYPE_CHECKING:
    from bindax import ad_checkpoint as ad_checkpoint
    from bindax import custom_batching as custom_batching
    from bindax import custom_derivatives as custom_derivatives
    from bindax import debug as debug
    from bindax import distributed as distributed
    from bindax import dlpack as dlpack
    from bindax import dtypes as dtypes
    from bindax import errors as errors
    from bindax import experimental as experimental
    from bindax import export as export
    from bindax import extend as extend
    from bindax import ffi as ffi
    from bindax import flatten_util as flatten_util
    from bindax import image as image
    from bindax import lax as lax
    from bindax import meta as meta
    from bindax import nn as nn
    from bindax import nnx as nnx
    from bindax import numpy as numpy
    from bindax import ops as ops
    from bindax import optimizers as optimizers
    from bindax import profiler as profiler
    from bindax import random as random
    from bindax import ref as ref
    from bindax import scipy as scipy
    from bindax import sharding as sharding
    from bindax import tree as tree
    from bindax import tree_util as tree_util
    from bindax._settings import config as config
    from bindax.ad_checkpoint import remat as remat
    from bindax.sharding import reshard as reshard
    from bindax_callbacks import pure_callback as pure_callback
    from bindax_core import Array as Array
    from bindax_core.sharding import NamedSharding as NamedSharding
    from bindax_core.sharding import P as P
    from bindax_core.sharding import make_mesh as make_mesh
    from bindax_core.sharding import set_mesh as set_mesh
    from bindax_diagnosis import container_types as container_types
    from bindax_diagnosis import diagnose_plugins as diagnose_plugins
    from bindax_diagnosis import installed_plugins as installed_plugins
    from bindax_diagnosis import rule_coverage as rule_coverage
    from bindax_inspect import compare as compare
    from bindax_inspect import inspect as inspect
    from bindax_inspect import inspect_mesh as inspect_mesh
    from bindax_lax_basic.extend import ds as ds
    from bindax_parallel import local_device_count as local_device_count
    from bindax_parallel import local_devices as local_devices
    from bindax_parallel import make_array_from_callback as make_array_from_callback
    from bindax_parallel import (
        make_array_from_process_local_data as make_array_from_process_local_data,
    )
    from bindax_parallel import (
        make_array_from_single_device_arrays as make_array_from_single_device_arrays,
    )
    from bindax_parallel import pmap as pmap
    from bindax_parallel import process_count as process_count
    from bindax_parallel import process_index as process_index
    from bindax_parallel import shard_map as shard_map
    from bindax_parallel import smap as smap
    from bindax_refs import Ref as Ref
    from bindax_refs import empty_ref as empty_ref
    from bindax_refs import free_ref as free_ref
    from bindax_refs import freeze as freeze
    from bindax_refs import new_ref as new_ref
    from bindax_text import display as display
    from bindax_text import jaxpr_from_text as jaxpr_from_text
    from bindax_text import jaxpr_to_text as jaxpr_to_text
    from bindax_transforms import JittedFunction as JittedFunction
    from bindax_transforms import checking_leaks as checking_leaks
    from bindax_transforms import checkpoint as checkpoint
    from bindax_transforms import checkpoint_policies as checkpoint_policies
    from bindax_transforms import clear_caches as clear_caches
    from bindax_transforms import closure_convert as closure_convert
    from bindax_transforms import custom_gradient as custom_gradient
    from bindax_transforms import custom_jvp as custom_jvp
    from bindax_transforms import custom_vjp as custom_vjp
    from bindax_transforms import ensure_compile_time_eval as ensure_compile_time_eval
    from bindax_transforms import eval_shape as eval_shape
    from bindax_transforms import grad as grad
    from bindax_transforms import hessian as hessian
    from bindax_transforms import jacfwd as jacfwd
    from bindax_transforms import jacobian as jacobian
    from bindax_transforms import jacrev as jacrev
    from bindax_transforms import jit as jit
    from bindax_transforms import jvp as jvp
    from bindax_transforms import linear_transpose as linear_transpose
    from bindax_transforms import linearize as linearize
    from bindax_transforms import make_jaxpr as make_jaxpr
    from bindax_transforms import named_call as named_call
    from bindax_transforms import named_scope as named_scope
    from bindax_transforms import value_and_grad as value_and_grad
    from bindax_transforms import vjp as vjp
    from bindax_transforms import vmap as vmap

    check_tracer_leaks: _Setting
    debug_infs: _Setting
    debug_key_reuse: _Setting
    debug_nans: _Setting
    default_matmul_precision: _Setting
    default_prng_impl: _Setting
    disable_jit: _Setting
    explain_cache_misses: _Setting
    legacy_prng_key: _Setting
    log_compiles: _Setting
    no_execution: _Setting
    no_tracing: _Setting
    numpy_dtype_promotion: _Setting
    numpy_rank_promotion: _Setting
    remove_size_one_mesh_axis_from_type: _Setting
    threefry_partitionable: _Setting
else:
    import bindax_core as _core
    from bindax_core import config as config

    Array = _core.AnyArray  # a traced array is an instance, too

__version__ = "0.1.0"

_MODULES = (
    *("ad_checkpoint", "custom_batching", "custom_derivatives", "debug", "distributed", "dlpack"),
    *("dtypes", "errors", "experimental", "export", "extend", "ffi", "flatten_util", "image"),
    *("lax", "meta", "nn", "nnx", "numpy", "ops", "optimizers", "profiler", "random", "ref"),
    *("scipy", "sharding", "tree", "tree_util"),
)
_SETTINGS = (
    *("check_tracer_leaks", "debug_infs", "debug_key_reuse", "debug_nans"),
    *("default_matmul_precision", "default_prng_impl", "disable_jit"),
    *("explain_cache_misses", "legacy_prng_key", "log_compiles", "no_execution", "no_tracing"),
    *("numpy_dtype_promotion", "numpy_rank_promotion"),
    *("remove_size_one_mesh_axis_from_type", "threefry_partitionable"),
)
"""Settings of packages that are contexts under these names, as in JAX."""

_PROCESSES = ("local_device_count", "local_devices", "process_count", "process_index")
_REPORTS = ("container_types", "diagnose_plugins", "installed_plugins", "rule_coverage")
_ELSEWHERE = {
    "JittedFunction": "bindax_transforms",
    **dict.fromkeys(("display", "jaxpr_from_text", "jaxpr_to_text"), "bindax_text"),
    **dict.fromkeys(_REPORTS, "bindax_diagnosis"),
    **dict.fromkeys(("compare", "inspect", "inspect_mesh"), "bindax_inspect"),
    **dict.fromkeys(("NamedSharding", "P", "make_mesh", "set_mesh"), "bindax_core.sharding"),
    "ds": "bindax_lax_basic.extend",
    "make_array_from_callback": "bindax_parallel",
    "make_array_from_process_local_data": "bindax_parallel",
    "make_array_from_single_device_arrays": "bindax_parallel",
    "pmap": "bindax_parallel",
    **dict.fromkeys(_PROCESSES, "bindax_parallel"),
    **dict.fromkeys(("Ref", "empty_ref", "free_ref", "freeze", "new_ref"), "bindax_refs"),
    "shard_map": "bindax_parallel",
    "smap": "bindax_parallel",
    "checking_leaks": "bindax_transforms",
    "clear_caches": "bindax_transforms",
    "ensure_compile_time_eval": "bindax_transforms",
    "checkpoint_policies": "bindax_transforms",
    "named_call": "bindax_transforms",
    "named_scope": "bindax_transforms",
    "pure_callback": "bindax_callbacks",
    "remat": "bindax.ad_checkpoint",
    "reshard": "bindax.sharding",
}


def __getattr__(name: str) -> _typing.Any:
    # Operations and transformations are plugins: `import bindax` does not pay for them. A name is
    # looked up once, and is then an attribute like any other.
    if name == "__all__":
        return [word for word in __dir__() if not word.startswith("_")]
    if name in _MODULES:
        return _import_module(f"bindax.{name}")
    if name in _SETTINGS:
        return config.setting(name)
    if name in _ELSEWHERE:
        found = getattr(_import_module(_ELSEWHERE[name]), name)
    elif not name.startswith("_") and name in transformation_names():
        found = find_transformation(name)
    else:
        raise _missing_attribute("bindax", name, __dir__)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    # Modules that somebody imported, such as the command `bindax.jax`, are no names of this one.
    own = {name for name, value in globals().items() if not isinstance(value, type(_typing))}
    return sorted({*own, *_MODULES, *_SETTINGS, *_ELSEWHERE, *transformation_names()})
