"""The kernel of bindax: bind, trace stack, types, arrays, pytrees, jaxprs, the registry of plugins.

The kernel knows no operation and no transformation. This module is the interface for users;
``bindax_core.extend`` is the one for packages that bring operations, containers, backends or
transformations.
"""

import typing as _typing
from importlib import import_module as _import_module

from bindax_core import _former_modules as _former_modules
from bindax_core import errors as errors
from bindax_core._config import config as config
from bindax_core._exports import public_names as _public_names
from bindax_core._extension_points import runtime
from bindax_core._packages import moved_name as _moved_name
from bindax_core._settings import Setting as Setting
from bindax_core._site import register_internal as _register_internal
from bindax_core._tracebacks import (
    hide_frames_of_uncaught as _hide_frames_of_uncaught,
)
from bindax_core.arrays import _evaluation as _evaluation  # the bottom of the trace stack
from bindax_core.arrays._array import Array as Array
from bindax_core.arrays._array_tracer import AnyArray as AnyArray
from bindax_core.arrays._backend import effects_barrier as effects_barrier
from bindax_core.arrays._device_put import block_until_ready as block_until_ready
from bindax_core.arrays._device_put import default_backend as default_backend
from bindax_core.arrays._device_put import default_device as default_device
from bindax_core.arrays._device_put import device_count as device_count
from bindax_core.arrays._device_put import device_get as device_get
from bindax_core.arrays._device_put import device_put as device_put
from bindax_core.arrays._device_put import devices as devices
from bindax_core.arrays._live_memory import live_arrays as live_arrays
from bindax_core.arrays._settings import disable_x64 as disable_x64
from bindax_core.arrays._settings import enable_x64 as enable_x64
from bindax_core.arrays._settings import transfer_guard as transfer_guard
from bindax_core.arrays._settings import (
    transfer_guard_device_to_host as transfer_guard_device_to_host,
)
from bindax_core.arrays._settings import (
    transfer_guard_host_to_device as transfer_guard_host_to_device,
)
from bindax_core.arrays._shaped_array import ShapedArray as ShapedArray
from bindax_core.arrays._shaped_array import float0 as float0
from bindax_core.arrays.sharding import _rules as _rules  # a rule kind of core
from bindax_core.kernel._aval import typeof as typeof
from bindax_core.kernel._eval_jaxpr import eval_jaxpr as eval_jaxpr
from bindax_core.kernel._eval_jaxpr import jaxpr_as_fun as jaxpr_as_fun
from bindax_core.kernel._jaxpr import ClosedJaxpr as ClosedJaxpr
from bindax_core.kernel._jaxpr import Jaxpr as Jaxpr
from bindax_core.kernel._jaxpr import JaxprEqn as JaxprEqn
from bindax_core.kernel._jaxpr import Literal as Literal
from bindax_core.kernel._jaxpr import Var as Var
from bindax_core.kernel._typecheck import JaxprType as JaxprType
from bindax_core.kernel._typecheck import typecheck_jaxpr as typecheck_jaxpr
from bindax_core.registry import _installed
from bindax_core.registry._installed import configure_plugins as configure_plugins
from bindax_core.registry._installed import find_primitive as find_primitive
from bindax_core.registry._installed import find_transformation as find_transformation
from bindax_core.registry._installed import load_plugins as load_plugins
from bindax_core.registry._installed import plugin_settings as plugin_settings
from bindax_core.registry._installed import refresh_plugins as refresh_plugins
from bindax_core.registry._installed import transformation_names as transformation_names

ShapeDtypeStruct = ShapedArray
"""The type of an array, under the name that JAX programs use."""

_register_internal(__file__)
_hide_frames_of_uncaught()
runtime.plugins = _installed.installed  # type: ignore[assignment]  # it has them all
config.observe("check_rules", _installed.watch_rules)

_MODULES = ("extend", "rules", "sharding", "tree_util")

_MOVED = {
    "check_tracer_leaks": "bindax_transforms.settings",
    "checking_leaks": "bindax_transforms",
    "container_types": "bindax_diagnosis",
    "debug_infs": "bindax_transforms.settings",
    "debug_nans": "bindax_transforms.settings",
    "diagnose_plugins": "bindax_diagnosis",
    "ensure_compile_time_eval": "bindax_transforms",
    "installed_plugins": "bindax_diagnosis",
    "jaxpr_from_text": "bindax_text",
    "jaxpr_to_text": "bindax_text",
    "local_device_count": "bindax_parallel",
    "local_devices": "bindax_parallel",
    "make_array_from_callback": "bindax_parallel",
    "make_array_from_process_local_data": "bindax_parallel",
    "make_array_from_single_device_arrays": "bindax_parallel",
    "named_call": "bindax_transforms",
    "named_scope": "bindax_transforms",
    "process_count": "bindax_parallel",
    "process_index": "bindax_parallel",
    "rule_coverage": "bindax_diagnosis",
}
"""Names that have moved to other packages."""

if _typing.TYPE_CHECKING:
    from bindax_diagnosis import container_types as container_types
    from bindax_diagnosis import diagnose_plugins as diagnose_plugins
    from bindax_diagnosis import installed_plugins as installed_plugins
    from bindax_diagnosis import rule_coverage as rule_coverage
    from bindax_parallel import local_device_count as local_device_count
    from bindax_parallel import local_devices as local_devices
    from bindax_parallel import make_array_from_callback as make_array_from_callback
    from bindax_parallel import (
        make_array_from_process_local_data as make_array_from_process_local_data,
    )
    from bindax_parallel import (
        make_array_from_single_device_arrays as make_array_from_single_device_arrays,
    )
    from bindax_parallel import process_count as process_count
    from bindax_parallel import process_index as process_index
    from bindax_text import jaxpr_from_text as jaxpr_from_text
    from bindax_text import jaxpr_to_text as jaxpr_to_text
    from bindax_transforms import checking_leaks as checking_leaks
    from bindax_transforms import ensure_compile_time_eval as ensure_compile_time_eval
    from bindax_transforms import named_call as named_call
    from bindax_transforms import named_scope as named_scope

    check_tracer_leaks: Setting
    debug_infs: Setting
    debug_nans: Setting


def __getattr__(name: str) -> _typing.Any:
    if name in _MODULES:  # or ``from bindax_core import rules`` would look for a misspelt name
        return _import_module(f"bindax_core.{name}")
    moved = _moved_name("bindax_core", name, _MOVED)
    if moved is None:
        raise errors.missing_attribute("bindax_core", name, __dir__)
    return moved


def __dir__() -> list[str]:
    return sorted({*globals(), *_MOVED})


vars()["__all__"] = [*_public_names(vars()), *_MOVED, "errors"]
