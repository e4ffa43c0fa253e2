"""The kernel of bindax: bind, trace stack, types, pytrees, jaxprs, registry, transformations.

The kernel knows no operation. This is the door for use; ``bindax_core.extend`` is the one for
packages that bring operations, containers, backends or transformations, and
``bindax_core.testing`` the one that checks them.
"""

from bindax_core import errors as errors
from bindax_core._array import Array as Array
from bindax_core._aval import ShapedArray as ShapedArray
from bindax_core._aval import float0 as float0
from bindax_core._aval import typeof as typeof
from bindax_core._backend import effects_barrier as effects_barrier
from bindax_core._config import config as config
from bindax_core._jaxpr import ClosedJaxpr as ClosedJaxpr
from bindax_core._jaxpr import Jaxpr as Jaxpr
from bindax_core._jaxpr import JaxprEqn as JaxprEqn
from bindax_core._jaxpr import Literal as Literal
from bindax_core._jaxpr import Var as Var
from bindax_core._jaxpr_check import JaxprType as JaxprType
from bindax_core._jaxpr_check import typecheck_jaxpr as typecheck_jaxpr
from bindax_core._jaxpr_eval import eval_jaxpr as eval_jaxpr
from bindax_core._jaxpr_eval import jaxpr_as_fun as jaxpr_as_fun
from bindax_core.interpreters import _custom_primitives as _custom_primitives
from bindax_core.interpreters import checkpoint_policies as checkpoint_policies
from bindax_core.interpreters._callables import check_function as check_function
from bindax_core.interpreters._checkpoint_name import checkpoint_name as checkpoint_name
from bindax_core.interpreters._custom_arguments import SymbolicZero as SymbolicZero
from bindax_core.interpreters._custom_arguments import zero_from_primal as zero_from_primal
from bindax_core.interpreters.batching import DerivedRuleNotice as DerivedRuleNotice
from bindax_core.interpreters.batching import vmap as vmap
from bindax_core.interpreters.batching import vmap_jaxpr as vmap_jaxpr
from bindax_core.interpreters.checkpoint import checkpoint as checkpoint
from bindax_core.interpreters.closure_convert import closure_convert as closure_convert
from bindax_core.interpreters.closure_convert import custom_gradient as custom_gradient
from bindax_core.interpreters.composition import composition as composition
from bindax_core.interpreters.custom_jvp import custom_jvp as custom_jvp
from bindax_core.interpreters.custom_vjp import CustomVJPPrimal as CustomVJPPrimal
from bindax_core.interpreters.custom_vjp import custom_vjp as custom_vjp
from bindax_core.interpreters.custom_vmap import custom_vmap as custom_vmap
from bindax_core.interpreters.direct import direct as direct
from bindax_core.interpreters.effects import check_repeatable as check_repeatable
from bindax_core.interpreters.effects import check_unordered as check_unordered
from bindax_core.interpreters.effects import without_effects as without_effects
from bindax_core.interpreters.gradient import grad as grad
from bindax_core.interpreters.gradient import hessian as hessian
from bindax_core.interpreters.gradient import jacfwd as jacfwd
from bindax_core.interpreters.gradient import jacobian as jacobian
from bindax_core.interpreters.gradient import jacrev as jacrev
from bindax_core.interpreters.gradient import value_and_grad as value_and_grad
from bindax_core.interpreters.interning import intern_jaxpr as intern_jaxpr
from bindax_core.interpreters.jit import jit_p as jit_p
from bindax_core.interpreters.jit_function import JittedFunction as JittedFunction
from bindax_core.interpreters.jit_function import jit as jit
from bindax_core.interpreters.jvp import jvp as jvp
from bindax_core.interpreters.jvp import jvp_jaxpr as jvp_jaxpr
from bindax_core.interpreters.linearize import linearize as linearize
from bindax_core.interpreters.linearize import vjp as vjp
from bindax_core.interpreters.make_jaxpr import eval_shape as eval_shape
from bindax_core.interpreters.make_jaxpr import make_jaxpr as make_jaxpr
from bindax_core.interpreters.partial_eval import dce_jaxpr as dce_jaxpr
from bindax_core.interpreters.partial_eval import partial_eval_jaxpr as partial_eval_jaxpr
from bindax_core.interpreters.physical import physical_jaxpr as physical_jaxpr
from bindax_core.interpreters.saved_residuals import print_saved_residuals as print_saved_residuals
from bindax_core.interpreters.saved_residuals import saved_residuals as saved_residuals
from bindax_core.interpreters.staging import trace_to_jaxpr as trace_to_jaxpr
from bindax_core.interpreters.transfer import block_until_ready as block_until_ready
from bindax_core.interpreters.transfer import default_backend as default_backend
from bindax_core.interpreters.transfer import device_get as device_get
from bindax_core.interpreters.transfer import device_put as device_put
from bindax_core.interpreters.transfer import devices as devices
from bindax_core.interpreters.transposition import linear_transpose as linear_transpose
from bindax_core.interpreters.transposition import transpose_jaxpr as transpose_jaxpr
from bindax_core.registry import _wiring
from bindax_core.registry._api import configure_plugins as configure_plugins
from bindax_core.registry._api import container_types as container_types
from bindax_core.registry._api import diagnose_plugins as diagnose_plugins
from bindax_core.registry._api import find_primitive as find_primitive
from bindax_core.registry._api import installed_plugins as installed_plugins
from bindax_core.registry._api import load_plugins as load_plugins
from bindax_core.registry._api import plugin_settings as plugin_settings
from bindax_core.registry._api import refresh_plugins as refresh_plugins
from bindax_core.registry._api import rule_coverage as rule_coverage

ShapeDtypeStruct = ShapedArray
"""The type of an array, under the name that JAX programs use."""

_wiring.connect()
