"""The transformations of bindax: each is a trace plus a rule table, as a third party's would be.

They use ``bindax_core.extend`` alone, and the kernel imports none of them.
"""

from bindax_core.extend import former_modules as _former_modules
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_transforms._callables import check_function as check_function
from bindax_transforms._flat import argument_names as argument_names
from bindax_transforms._flat import cached_on_jaxpr as cached_on_jaxpr
from bindax_transforms._flat import flatten_function as flatten_function
from bindax_transforms._flat import merge as merge
from bindax_transforms._flat import parameter_names as parameter_names
from bindax_transforms._flat import partition as partition
from bindax_transforms._flat import split as split
from bindax_transforms._flat import with_zeros as with_zeros
from bindax_transforms.autodiff.gradient import grad as grad
from bindax_transforms.autodiff.gradient import value_and_grad as value_and_grad
from bindax_transforms.autodiff.jacobian import hessian as hessian
from bindax_transforms.autodiff.jacobian import jacfwd as jacfwd
from bindax_transforms.autodiff.jacobian import jacobian as jacobian
from bindax_transforms.autodiff.jacobian import jacrev as jacrev
from bindax_transforms.autodiff.jvp import jvp as jvp
from bindax_transforms.autodiff.jvp import jvp_jaxpr as jvp_jaxpr
from bindax_transforms.autodiff.linear_program import VJP as VJP
from bindax_transforms.autodiff.linearize import linear_transpose as linear_transpose
from bindax_transforms.autodiff.linearize import linearize as linearize
from bindax_transforms.autodiff.linearize import vjp as vjp
from bindax_transforms.autodiff.partial_eval import dce_jaxpr as dce_jaxpr
from bindax_transforms.autodiff.partial_eval import partial_eval_jaxpr as partial_eval_jaxpr
from bindax_transforms.autodiff.transposition import transpose_jaxpr as transpose_jaxpr
from bindax_transforms.batching.axis_sizes import NamedSize as NamedSize
from bindax_transforms.batching.axis_sizes import axis_key as axis_key
from bindax_transforms.batching.axis_sizes import mesh_axes_of as mesh_axes_of
from bindax_transforms.batching.batched_jaxpr import vmap_jaxpr as vmap_jaxpr
from bindax_transforms.batching.named_axes import NamedAxis as NamedAxis
from bindax_transforms.batching.named_axes import bound_axes as bound_axes
from bindax_transforms.batching.named_axes import device_axes as device_axes
from bindax_transforms.batching.named_axes import find_named_axis as find_named_axis
from bindax_transforms.batching.named_axes import name_axes as name_axes
from bindax_transforms.batching.vmap import OutAxesError as OutAxesError
from bindax_transforms.batching.vmap import vmap as vmap
from bindax_transforms.compilation.jit_debugging import clear_caches as clear_caches
from bindax_transforms.compilation.jit_function import JittedFunction as JittedFunction
from bindax_transforms.compilation.jit_function import jit as jit
from bindax_transforms.compilation.jit_primitive import jit_p as jit_p
from bindax_transforms.compilation.physical_jaxpr import physical_jaxpr as physical_jaxpr
from bindax_transforms.compilation.recompilation import Recompilations as Recompilations
from bindax_transforms.compilation.recompilation import recompilations as recompilations
from bindax_transforms.compilation.sharding_constraint import (
    sharding_constraint_p as sharding_constraint_p,
)
from bindax_transforms.compilation.sharding_constraint import (
    with_sharding_constraint as with_sharding_constraint,
)
from bindax_transforms.composition import composition as composition
from bindax_transforms.custom.closure_convert import closure_convert as closure_convert
from bindax_transforms.custom.closure_convert import custom_gradient as custom_gradient
from bindax_transforms.custom.composite import composite as composite
from bindax_transforms.custom.composite import composite_p as composite_p
from bindax_transforms.custom.custom_jvp import custom_jvp as custom_jvp
from bindax_transforms.custom.custom_jvp import custom_jvp_call_p as custom_jvp_call_p
from bindax_transforms.custom.custom_vjp import CustomVJPPrimal as CustomVJPPrimal
from bindax_transforms.custom.custom_vjp import custom_vjp as custom_vjp
from bindax_transforms.custom.custom_vjp import custom_vjp_call_p as custom_vjp_call_p
from bindax_transforms.custom.custom_vmap import custom_vmap as custom_vmap
from bindax_transforms.custom.custom_vmap import custom_vmap_call_p as custom_vmap_call_p
from bindax_transforms.custom.linear_call import linear_call as linear_call
from bindax_transforms.custom.linear_call import linear_call_p as linear_call_p
from bindax_transforms.custom.symbolic_zeros import SymbolicZero as SymbolicZero
from bindax_transforms.custom.symbolic_zeros import zero_from_primal as zero_from_primal
from bindax_transforms.remat import checkpoint_policies as checkpoint_policies
from bindax_transforms.remat._name import checkpoint_name as checkpoint_name
from bindax_transforms.remat.checkpoint import checkpoint as checkpoint
from bindax_transforms.remat.saved_residuals import print_saved_residuals as print_saved_residuals
from bindax_transforms.remat.saved_residuals import saved_residuals as saved_residuals
from bindax_transforms.staging.constvars import convert_constvars as convert_constvars
from bindax_transforms.staging.effects import check_repeatable as check_repeatable
from bindax_transforms.staging.effects import check_unordered as check_unordered
from bindax_transforms.staging.effects import without_effects as without_effects
from bindax_transforms.staging.evaluated import evaluated as evaluated
from bindax_transforms.staging.interning import intern_jaxpr as intern_jaxpr
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr as trace_to_jaxpr
from bindax_transforms.staging.make_jaxpr import (
    ensure_compile_time_eval as ensure_compile_time_eval,
)
from bindax_transforms.staging.make_jaxpr import eval_shape as eval_shape
from bindax_transforms.staging.make_jaxpr import make_jaxpr as make_jaxpr
from bindax_transforms.staging.named_scopes import named_call as named_call
from bindax_transforms.staging.named_scopes import named_scope as named_scope
from bindax_transforms.staging.staged_values import dce_sink as dce_sink
from bindax_transforms.staging.staged_values import dce_sink_p as dce_sink_p
from bindax_transforms.staging.staged_values import stage as stage
from bindax_transforms.staging.trace_cache import traced_once as traced_once
from bindax_transforms.staging.tracer_leaks import checking_leaks as checking_leaks

remembered = cached_on_jaxpr
"""The former name of ``cached_on_jaxpr``."""

vars()["__all__"] = [*_public_names(vars()), "checkpoint_policies"]
_register_internal(__file__)
_former_modules(
    __name__,
    {
        "compilation.debugging": "compilation.jit_debugging",
        "compilation.physical": "compilation.physical_jaxpr",
        "staging.remembered": "staging.trace_cache",
        "staging.trace": "staging.jaxpr_trace",
    },
)
