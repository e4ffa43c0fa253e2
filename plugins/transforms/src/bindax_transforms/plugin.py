"""The plugin that the registry loads: the transformations and their primitives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import bindax_transforms
from bindax_core.extend import Primitive, hookimpl
from bindax_transforms.compilation.jit_primitive import jit_p
from bindax_transforms.compilation.sharding_constraint import sharding_constraint_p
from bindax_transforms.custom.custom_jvp import custom_jvp_call_p
from bindax_transforms.custom.custom_vjp import custom_vjp_call_p
from bindax_transforms.custom.custom_vmap import custom_vmap_call_p
from bindax_transforms.remat._name import name_p
from bindax_transforms.remat._primitive import checkpoint_p

TRANSFORMATIONS = (
    "checkpoint",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "custom_vmap",
    "eval_shape",
    "grad",
    "hessian",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "linear_transpose",
    "linearize",
    "make_jaxpr",
    "physical_jaxpr",
    "print_saved_residuals",
    "saved_residuals",
    "value_and_grad",
    "vjp",
    "vmap",
)
"""The names that ``bindax`` offers, and the manifest of this package."""


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """Offer the primitives: those whose equations call a program, names and shardings."""
    # Not custom_vjp_linear_p: it cannot be evaluated, only transposed, as the checks of reverse
    # mode of custom_vjp_call do.
    return (
        checkpoint_p,
        custom_jvp_call_p,
        custom_vjp_call_p,
        custom_vmap_call_p,
        jit_p,
        name_p,
        sharding_constraint_p,
    )


@hookimpl
def bindax_transformations() -> Mapping[str, Callable[..., Any]]:
    """Offer the transformations."""
    return {name: getattr(bindax_transforms, name) for name in TRANSFORMATIONS}


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the conformance kit calls of smooth, linear and partly trivial functions."""
    from bindax_transforms._samples import samples

    return samples()
