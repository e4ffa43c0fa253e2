"""Private names of JAX that packages import, and the public meaning that they are served with.

By module: each name with ``module:attribute``, where the module is one of the alias or of bindax.
"""

from __future__ import annotations

_SHIMS = "bindax_jax_names.shims"

SOURCE_NAMES: dict[str, dict[str, str]] = {
    "jax._src.ad_util": {"stop_gradient_p": f"{_SHIMS}.private:stop_gradient_p"},
    "jax._src.api_util": {
        "infer_argnums_and_argnames": f"{_SHIMS}.private:infer_argnums_and_argnames"
    },
    "jax._src.array": {"_reconstruct_array": f"{_SHIMS}.private:reconstruct_array"},
    "jax._src.checkify": {
        "Error": "jax.experimental.checkify:Error",
        "JaxException": f"{_SHIMS}.private:JaxException",
        "Out": "typing:Any",
        "checkify": "jax.experimental.checkify:checkify",
        "user_checks": "jax.experimental.checkify:user_checks",
    },
    "jax._src.compiler": {"backend_compile_and_load": f"{_SHIMS}.private:compile_program"},
    "jax._src.core": {
        **{
            name: f"{_SHIMS}.private:{name}"
            for name in (
                "is_constant_dim",
                "is_constant_shape",
                "primal_dtype_to_tangent_dtype",
                "subjaxprs",
                "trace_state_clean",
            )
        },
        **{
            name: f"jax.core:{name}"
            for name in (
                "AbstractValue",
                "ClosedJaxpr",
                "Jaxpr",
                "JaxprEqn",
                "Literal",
                "Primitive",
                "ShapedArray",
                "Trace",
                "Tracer",
                "Var",
                "eval_jaxpr",
                "get_aval",
                "get_opaque_trace_state",
                "jaxpr_as_fun",
                "max_dim",
                "min_dim",
            )
        },
    },
    "jax._src.distributed": {"global_state": f"{_SHIMS}.private:global_state"},
    "jax._src.dispatch": {"wait_for_tokens": "jax:effects_barrier"},
    "jax._src.dtypes": {
        "DType": "numpy:dtype",
        "ExtendedDType": f"{_SHIMS}.private:ExtendedDType",
        "extended": "jax.dtypes:extended",
        "finfo": "jax.dtypes:finfo",
        "supports_inf": f"{_SHIMS}.private:supports_inf",
        "TypePromotionError": "jax.dtypes:TypePromotionError",
        "check_and_canonicalize_user_dtype": "jax.dtypes:canonicalize_dtype",
        **{
            name: f"{_SHIMS}.private:{name}"
            for name in (
                "to_complex_dtype",
                "to_floating_dtype",
                "to_inexact_dtype",
                "to_numeric_dtype",
            )
        },
    },
    "jax._src.flatten_util": {"ravel_pytree": "jax.flatten_util:ravel_pytree"},
    "jax._src.interpreters.ad": {"CustomVJPException": "bindax.errors:CustomRuleError"},
    "jax._src.literals": {
        name: f"{_SHIMS}.private:{name}" for name in ("TypedComplex", "TypedFloat", "TypedInt")
    },
    "jax._src.numpy.util": {
        name: f"{_SHIMS}.private:{name}"
        for name in (
            "promote_dtypes",
            "promote_dtypes_complex",
            "promote_dtypes_inexact",
            "promote_dtypes_numeric",
        )
    },
    "jax._src.public_test_util": {
        name: f"{_SHIMS}.test_util:{name}"
        for name in ("check_close", "check_grads", "check_jvp", "check_vjp")
    },
    "jax._src.pjit": {"jit_p": "jax.extend.core.primitives:jit_p"},
    "jax._src.sharding": {"IndivisibleError": "bindax.errors:IndivisibleError"},
    "jax._src.state.types": {"AbstractRef": "jax.experimental.hijax:AbstractRef"},
    "jax._src.traceback_util": {
        "api_boundary": f"{_SHIMS}.private:api_boundary",
        "include_frame": f"{_SHIMS}.private:include_frame",
        "register_exclusion": "jax.extend.source_info_util:register_exclusion",
        "_exclude_paths": f"{_SHIMS}.private:excluded_paths",
    },
    "jax._src.xla_bridge": {
        "_backends": f"{_SHIMS}.private:started_backends",
        "get_backend": "jax.extend.backend:get_backend",
    },
    "jax._src.tree_util": {
        "_registry": f"{_SHIMS}.private:node_registry",
        "flatten_one_level": "bindax_core.tree_util:flatten_one_level",
    },
}
