"""Nothing is missing: functions and parameters that JAX has, samples and formulas of primitives."""

import inspect
import tomllib
from pathlib import Path

import pytest

import bindax_lax_basic as lax
from bindax_core import find_primitive, make_jaxpr
from bindax_core.extend import jvp
from bindax_core.testing import Sample
from bindax_lax_basic._conformance import conformance_samples
from bindax_lax_basic.formulas import DERIVATIVES

FUNCTIONS = """
abs acos acosh add asin asinh atan atan2 atanh bessel_i0e bessel_i1e betainc bitcast_convert_type
bitwise_and bitwise_not bitwise_or bitwise_xor cbrt ceil clamp clz complex conj
convert_element_type cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt igamma
igamma_grad_a igammac imag integer_pow is_finite le lgamma log log1p logistic lt max min mul mulhi
ne neg nextafter polygamma population_count pow random_gamma_grad real reduce_precision rem round
rsqrt select select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt
square sub tan tanh zeta
broadcast broadcast_in_dim broadcast_shapes broadcasted_iota collapse concatenate expand_dims full
full_like iota pad reshape rev slice split squeeze stack tile transpose unstack
dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_update_index_in_dim
dynamic_update_slice dynamic_update_slice_in_dim gather index_in_dim scatter scatter_add
scatter_max scatter_min scatter_mul scatter_sub slice_in_dim
argmax argmin cumlogsumexp cummax cummin cumprod cumsum reduce reduce_and reduce_max reduce_min
reduce_or reduce_prod reduce_sum reduce_window reduce_xor sort sort_key_val top_k
batch_matmul conv conv_general_dilated conv_transpose conv_with_general_padding dot dot_general
fft optimization_barrier rng_bit_generator stop_gradient
"""
LINEAR_ALGEBRA = """
cholesky eig eigh hessenberg householder_product lu lu_pivots_to_permutation qr schur svd
triangular_solve tridiagonal tridiagonal_solve
"""
LEFT_OUT = {
    "accuracy": "which approximation the compiler takes; there is one",
    "algorithm": "which of the device's libraries computes it; there is one",
    "implementation": "which of the device's libraries computes it; there is one",
    "use_magma": "a library for other devices",
    "out_sharding": "arrays are on one device",
    "sharding": "arrays are on one device",
    "allow_negative_indices": "negative indices count from the end, as is JAX's default",
    "out_dtype": "an experiment; convert the operands",
    "args": "the operands have names",
    "perturb_singular": "for the use of another device's library",
    "select_callable": "JAX has no implementation of it for its CPU",
    "sort_eig_vals": "it goes with select_callable",
}
"""Parameters of JAX's functions that those of bindax do not have."""

HAS_PARAMETER = {("algorithm", "rng_bit_generator")}


def parameters(function):
    return set(inspect.signature(function).parameters)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        *[("lax", name) for name in FUNCTIONS.split()],
        *[("lax.linalg", name) for name in LINEAR_ALGEBRA.split()],
    ],
)
def test_functions_have_the_parameters_that_jaxs_have(place, name):
    jax = pytest.importorskip("jax")
    ours, theirs = (lax, jax.lax) if place == "lax" else (lax.linalg, jax.lax.linalg)
    missing = parameters(getattr(theirs, name)) - parameters(getattr(ours, name))
    assert not {one for one in missing if one not in LEFT_OUT or (one, name) in HAS_PARAMETER}


def declared_primitives():
    path = Path(__file__).resolve().parent.parent / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return sorted(project["entry-points"]["bindax.v1.primitives"])


def test_every_primitive_has_samples():
    bound = set()
    for sample in conformance_samples():
        if isinstance(sample, Sample):
            closed = make_jaxpr(sample.call)(*[operand.aval for operand in sample.operands])
            bound |= {eqn.primitive.name for eqn in closed.jaxpr.eqns}
    # It has no operand, so it is applied while it is traced and not recorded.
    assert set(declared_primitives()) - bound <= {"iota"}


def test_every_derivative_has_a_formula():
    with_rule = {name for name in declared_primitives() if jvp.find(find_primitive(name))}
    assert set(DERIVATIVES) == with_rule
