"""Interface for packages that extend bindax: primitives, rules, values, interpreters, backends.

What is here is public, versioned (``API_VERSION``) and tested; the interpreters of bindax itself
use nothing else of the kernel.
"""

import typing as _typing

from bindax_core import rules as rules
from bindax_core._config import Config as Config
from bindax_core._config import config as config
from bindax_core._deprecation import deprecated as deprecated
from bindax_core._exports import bound_functions as bound_functions
from bindax_core._exports import former_modules as former_modules
from bindax_core._exports import global_name as global_name
from bindax_core._exports import public_names as public_names
from bindax_core._extension_points import find_keepers_with as find_keepers_with
from bindax_core._extension_points import on_end_of_traces as on_end_of_traces
from bindax_core._fast_paths import fast_paths as fast_paths
from bindax_core._functions import code_of as code_of
from bindax_core._functions import describe_function as describe_function
from bindax_core._functions import unwrapped_function as unwrapped_function
from bindax_core._functions import wraps as wraps
from bindax_core._jaxpr_printing import Printer as Printer
from bindax_core._jaxpr_printing import format_application as format_application
from bindax_core._jaxpr_printing import format_eqn as format_eqn
from bindax_core._jaxpr_printing import format_jaxpr as format_jaxpr
from bindax_core._packages import moved_name as _moved_name
from bindax_core._rollback import on_rollback as on_rollback
from bindax_core._rule_calls import call_rule as call_rule
from bindax_core._settings import Setting as Setting
from bindax_core._settings import derived_setting as derived_setting
from bindax_core._site import Site as Site
from bindax_core._site import caller_site as caller_site
from bindax_core._site import is_internal as is_internal
from bindax_core._site import register_internal as register_internal
from bindax_core._tracebacks import api_boundary as api_boundary
from bindax_core._tracebacks import hide_internal_frames as hide_internal_frames
from bindax_core._tracebacks import warn_user as warn_user
from bindax_core.arrays._array import Array as Array
from bindax_core.arrays._array_tracer import AnyArray as AnyArray
from bindax_core.arrays._array_tracer import ArrayTracer as ArrayTracer
from bindax_core.arrays._array_tracer import ValueTracer as ValueTracer
from bindax_core.arrays._backend import Backend as Backend
from bindax_core.arrays._backend import InterpretedProgram as InterpretedProgram
from bindax_core.arrays._backend import find_backend as find_backend
from bindax_core.arrays._backend import register_backend as register_backend
from bindax_core.arrays._backend import unregister_backend as unregister_backend
from bindax_core.arrays._evaluation import EvalTrace as EvalTrace
from bindax_core.arrays._executable_cache import CacheEntry as CacheEntry
from bindax_core.arrays._executable_cache import bound_shardings as bound_shardings
from bindax_core.arrays._executable_cache import compiler_started as compiler_started
from bindax_core.arrays._executable_cache import compiling_backend as compiling_backend
from bindax_core.arrays._executable_cache import executable_cache as executable_cache
from bindax_core.arrays._executable_cache import executable_of as executable_of
from bindax_core.arrays._executable_cache import has_extended_dtypes as has_extended_dtypes
from bindax_core.arrays._executable_cache import lower_program as lower_program
from bindax_core.arrays._extended_dtypes import ExtendedDType as ExtendedDType
from bindax_core.arrays._extended_dtypes import as_extended as as_extended
from bindax_core.arrays._extended_dtypes import extended as extended
from bindax_core.arrays._extended_dtypes import extended_dtype as extended_dtype
from bindax_core.arrays._extended_dtypes import is_extended as is_extended
from bindax_core.arrays._extended_dtypes import logical_array as logical_array
from bindax_core.arrays._extended_dtypes import physical_array as physical_array
from bindax_core.arrays._live_memory import describe_live_arrays as describe_live_arrays
from bindax_core.arrays._live_memory import size_text as size_text
from bindax_core.arrays._memories import DeviceMemories as DeviceMemories
from bindax_core.arrays._numbers import canonicalize_array as canonicalize_array
from bindax_core.arrays._numbers import canonicalize_aval as canonicalize_aval
from bindax_core.arrays._numbers import canonicalize_dtype as canonicalize_dtype
from bindax_core.arrays._operands import as_array as as_array
from bindax_core.arrays._operators import ArrayOperations as ArrayOperations
from bindax_core.arrays._operators import operations_for as operations_for
from bindax_core.arrays._operators import zeros_like_aval as zeros_like_aval
from bindax_core.arrays._placement import DefaultPlacement as DefaultPlacement
from bindax_core.arrays._placement import HostDevice as HostDevice
from bindax_core.arrays._placement import PlacedElsewhereError as PlacedElsewhereError
from bindax_core.arrays._placement import Placement as Placement
from bindax_core.arrays._placement import default_placement as default_placement
from bindax_core.arrays._placement import default_sharding as default_sharding
from bindax_core.arrays._placement import place_on as place_on
from bindax_core.arrays._placement import sharding_of as sharding_of
from bindax_core.arrays._rules import LoweringContext as LoweringContext
from bindax_core.arrays._rules import Region as Region
from bindax_core.arrays._rules import RuleFamily as RuleFamily
from bindax_core.arrays._rules import is_high as is_high
from bindax_core.arrays._rules import kernel_sources as kernel_sources
from bindax_core.arrays._settings import positive_integer as positive_integer
from bindax_core.arrays._shaped_array import Dimension as Dimension
from bindax_core.arrays._shaped_array import ShapedArray as ShapedArray
from bindax_core.arrays._shaped_array import dtype_name as dtype_name
from bindax_core.arrays._shaped_array import float0 as float0
from bindax_core.arrays._shaped_array import is_differentiable as is_differentiable
from bindax_core.arrays._transfer_guard import check_transfer as check_transfer
from bindax_core.errors import BackendError as BackendError
from bindax_core.errors import DeletedArrayError as DeletedArrayError
from bindax_core.errors import MissingRuleError as MissingRuleError
from bindax_core.errors import TracingRecursionError as TracingRecursionError
from bindax_core.errors import missing_attribute as missing_attribute
from bindax_core.kernel._aval import AbstractValue as AbstractValue
from bindax_core.kernel._aval import ValueType as ValueType
from bindax_core.kernel._aval import find_value_type as find_value_type
from bindax_core.kernel._aval import is_value as is_value
from bindax_core.kernel._aval import typeof as typeof
from bindax_core.kernel._definitions import primitive as primitive
from bindax_core.kernel._eval_jaxpr import bind_flat as bind_flat
from bindax_core.kernel._eval_jaxpr import eval_jaxpr as eval_jaxpr
from bindax_core.kernel._eval_jaxpr import interpret_jaxpr as interpret_jaxpr
from bindax_core.kernel._eval_jaxpr import jaxpr_as_fun as jaxpr_as_fun
from bindax_core.kernel._jaxpr import Atom as Atom
from bindax_core.kernel._jaxpr import ClosedJaxpr as ClosedJaxpr
from bindax_core.kernel._jaxpr import Jaxpr as Jaxpr
from bindax_core.kernel._jaxpr import JaxprEqn as JaxprEqn
from bindax_core.kernel._jaxpr import Literal as Literal
from bindax_core.kernel._jaxpr import Var as Var
from bindax_core.kernel._jaxpr import subjaxprs as subjaxprs
from bindax_core.kernel._operands import is_masked as is_masked
from bindax_core.kernel._operands import unknown_type_error as unknown_type_error
from bindax_core.kernel._operands import unwrapped as unwrapped
from bindax_core.kernel._primitive import CallPrimitive as CallPrimitive
from bindax_core.kernel._primitive import Primitive as Primitive
from bindax_core.kernel._rule_errors import describe_rule as describe_rule
from bindax_core.kernel._rule_errors import explain_failure as explain_failure
from bindax_core.kernel._rule_errors import result_aval as result_aval
from bindax_core.kernel._rule_errors import rule_output_error as rule_output_error
from bindax_core.kernel._rule_errors import shown_result as shown_result
from bindax_core.kernel._rules import Rule as Rule
from bindax_core.kernel._rules import RuleKind as RuleKind
from bindax_core.kernel._rules import rule_kinds as rule_kinds
from bindax_core.kernel._source_info import DebugInfo as DebugInfo
from bindax_core.kernel._source_info import SourceInfo as SourceInfo
from bindax_core.kernel._source_info import Transformation as Transformation
from bindax_core.kernel._source_info import current_source as current_source
from bindax_core.kernel._source_info import user_source_info as user_source_info
from bindax_core.kernel._stack import eval_context as eval_context
from bindax_core.kernel._stack import evaluate_with as evaluate_with
from bindax_core.kernel._stack import find_top_trace as find_top_trace
from bindax_core.kernel._stack import full_lower as full_lower
from bindax_core.kernel._stack import is_active as is_active
from bindax_core.kernel._stack import new_main as new_main
from bindax_core.kernel._stack import trace_state as trace_state
from bindax_core.kernel._trace import MainTrace as MainTrace
from bindax_core.kernel._trace import Trace as Trace
from bindax_core.kernel._trace import full_raise as full_raise
from bindax_core.kernel._typecheck import JaxprType as JaxprType
from bindax_core.kernel._typecheck import typecheck_jaxpr as typecheck_jaxpr
from bindax_core.registry._extensions import Extension as Extension
from bindax_core.registry._extensions import extend as extend
from bindax_core.rules import Effect as Effect
from bindax_core.rules import abstract_eval as abstract_eval
from bindax_core.rules import effects as effects
from bindax_core.rules import expansion as expansion
from bindax_core.rules import impl as impl
from bindax_core.rules import lowering as lowering
from bindax_core.rules import pretty_print as pretty_print
from bindax_core.rules import typecheck as typecheck
from bindax_core.tree._construction import Record as Record
from bindax_core.tree._keys import position as _position
from bindax_core.tree._node_definition import short as _short
from bindax_core.tree._node_definition import type_name as type_name
from bindax_core.tree._prefix import flatten_prefix as flatten_prefix
from bindax_core.tree._registry import find_node_definition as find_node_definition
from bindax_core.tree_util import NodeDefinition as NodeDefinition
from bindax_core.tree_util import Partial as Partial
from bindax_core.tree_util import PyTreeDef as PyTreeDef
from bindax_core.tree_util import keystr as keystr
from bindax_core.tree_util import tree_flatten as tree_flatten
from bindax_core.tree_util import tree_flatten_with_path as tree_flatten_with_path
from bindax_core.tree_util import tree_leaves as tree_leaves
from bindax_core.tree_util import tree_map as tree_map
from bindax_core.tree_util import tree_structure as tree_structure
from bindax_core.tree_util import tree_unflatten as tree_unflatten

API_VERSION = 1

Tracer = ArrayTracer
"""The base of tracers, with the operators and methods of arrays."""

short_repr = _short
"""From a value to its ``repr``, cut to a length that fits into a message."""

describe_path = _position
"""From a path in a pytree to where it leads, for messages: ``at path ['a'][1]``."""

not_mapped = None
"""The batch dimension of an operand that has no batch axis."""

if _typing.TYPE_CHECKING:
    from bindax_core.plugins import find_declared as find_declared
    from bindax_core.plugins import find_distribution as find_distribution
    from bindax_core.plugins import load_distribution as load_distribution
    from bindax_core.plugins import manifest_entries as manifest_entries
    from bindax_core.registry._hooks import hookimpl as hookimpl
    from bindax_core.registry._manifest import Distribution as Distribution
    from bindax_core.registry._provenance import distribution_of as distribution_of
    from bindax_core.registry._provenance import provenance_of as provenance_of
    from bindax_core.rules import dce as dce
    from bindax_core.rules import jvp as jvp
    from bindax_core.rules import partial_eval as partial_eval
    from bindax_core.rules import partial_eval_jaxpr as partial_eval_jaxpr
    from bindax_core.rules import physical as physical
    from bindax_core.rules import transpose as transpose
    from bindax_core.rules import vjp as vjp
    from bindax_core.rules import vmap as vmap
    from bindax_diagnosis import PluginContents as PluginContents
    from bindax_diagnosis import plugin_contents as plugin_contents
    from bindax_diagnosis import unresolved_conflicts as unresolved_conflicts
    from bindax_lax_basic.extend import Promotion as Promotion
    from bindax_text import register_text_form as register_text_form
    from bindax_transforms import convert_constvars as convert_constvars
    from bindax_transforms.rules import pair_of as pair_of
    from bindax_transforms.zeros import UndefPrimal as UndefPrimal
    from bindax_transforms.zeros import Zero as Zero
    from bindax_transforms.zeros import add_tangents as add_tangents
    from bindax_transforms.zeros import instantiate_zeros as instantiate_zeros
    from bindax_transforms.zeros import is_undef_primal as is_undef_primal

_PLUGINS = ("find_declared", "find_distribution", "load_distribution", "manifest_entries")
_REPORTS = ("PluginContents", "plugin_contents", "unresolved_conflicts")
_ZEROS = ("UndefPrimal", "Zero", "add_tangents", "instantiate_zeros", "is_undef_primal")
_ELSEWHERE = {
    **dict.fromkeys(_PLUGINS, "bindax_core.plugins"),
    **dict.fromkeys(("distribution_of", "provenance_of"), "bindax_core.registry._provenance"),
    "Distribution": "bindax_core.registry._manifest",
    "hookimpl": "bindax_core.registry._hooks",
    **dict.fromkeys(rules._VERSION_1, "bindax_core.rules"),
    **dict.fromkeys(_ZEROS, "bindax_transforms.zeros"),
    **dict.fromkeys(_REPORTS, "bindax_diagnosis"),
    **dict.fromkeys(("convert_constvars", "hoist_consts"), "bindax_transforms.staging.constvars"),
    "Promotion": "bindax_lax_basic.dtypes",
    "keeper_of": "bindax_transforms.staging.rule_keeps",
    "pair_of": "bindax_transforms.rules",
    "register_text_form": "bindax_text",
}
"""Names of other modules, which are imported for them: those that programs do not need to compute,
and those of plugin API 1 that have moved to other packages."""

_RENAMED = {
    "Kept": "CacheEntry",
    "Origin": "DebugInfo",
    "Place": "Placement",
    "admitted_array": "canonicalize_array",
    "admitted_dtype": "canonicalize_dtype",
    "admitted_type": "canonicalize_aval",
    "new_base": "eval_context",
    "note_transfer": "check_transfer",
    "recent_programs": "executable_cache",
    "record_undo": "on_rollback",
}
"""Names of plugin API 1, and what they are called now."""


def __getattr__(name: str) -> _typing.Any:
    if name in _RENAMED:
        return globals()[_RENAMED[name]]
    found = _moved_name("bindax.extend", name, _ELSEWHERE)
    if found is not None:
        return found
    raise missing_attribute("bindax.extend", name, __dir__)


def __dir__() -> list[str]:
    return [*globals(), *_ELSEWHERE, *_RENAMED]


vars()["__all__"] = [*public_names(vars()), *_ELSEWHERE, *_RENAMED, "rules"]
