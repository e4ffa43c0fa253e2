"""Nothing is missing: functions and parameters that JAX has, samples and formulas of primitives."""

import inspect
import tomllib
import warnings
from pathlib import Path

import pytest

from bindax import lax
from bindax_core import find_primitive
from bindax_core.extend import jvp
from bindax_lax_basic.formulas import DERIVATIVES
from bindax_lax_basic.samples.conformance import conformance_samples
from bindax_testing import Sample
from bindax_transforms import make_jaxpr

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
approx_max_k approx_min_k batch_matmul conv conv_general_dilated conv_general_permutations
conv_transpose conv_with_general_padding dot dot_general dtype fft optimization_barrier ragged_dot
ragged_dot_general rng_bit_generator rng_uniform scaled_dot scatter_apply shape_as_value
stop_gradient DotAlgorithm RaggedDotDimensionNumbers
all_gather all_to_all axis_index axis_size pbroadcast pmax pmean pmin ppermute pshuffle psum
psum_scatter pswapaxes
"""
LINEAR_ALGEBRA = """
cholesky cholesky_update eig eigh hessenberg householder_product lu lu_pivots_to_permutation
ormqr qdwh qr schur svd symmetric_product triangular_solve tridiagonal tridiagonal_solve
"""
ABSENT_FOR = {
    "there is one device": """
        device_put_p precv psend ragged_all_to_all ragged_all_to_all_p
    """,
    "the index along a named axis is a value": "axis_index_p",
    "a token is an array without elements": "after_all_p create_token_p",
    "made of other primitives here": """
        approx_top_k_p cholesky_update_p ormqr_p polynomial_p
        symmetric_product_p unstack_p
    """,
    "no function binds them; sort orders totally by itself": "eq_to_p le_to_p lt_to_p",
    "a value is lifted without an operation": "stage_p",
}
"""The names of ``jax.lax`` and ``jax.lax.linalg`` that bindax does not have, with the reasons."""

NEWER = {(0, 12): "polynomial_p"}
"""Those of the reasons above that came with a later release of JAX."""

ABSENT = {name for names in ABSENT_FOR.values() for name in names.split()}

LEFT_OUT = {
    "use_magma": "a library for other devices",
    "out_sharding": "arrays are on one device",
    "sharding": "arrays are on one device",
    "allow_negative_indices": "negative indices count from the end, as is JAX's default",
    "out_dtype": "an experiment; convert the operands",
    "to": "how shard_map types the result",
    "args": "the operands have names",
    "select_callable": "JAX has no implementation of it for its CPU",
    "sort_eig_vals": "it goes with select_callable",
}
"""Parameters of JAX's functions that those of bindax do not have."""

HAS_PARAMETER = {("to", "all_gather")}


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


@pytest.mark.parametrize("place", ["lax", "lax.linalg"])
def test_names_are_those_that_jax_has(place):
    jax = pytest.importorskip("jax")
    control_flow = pytest.importorskip("bindax_control_flow")
    ours, theirs = (lax, jax.lax) if place == "lax" else (lax.linalg, jax.lax.linalg)
    public = {name for name in dir(theirs) if not name.startswith("_")}
    missing = {name for name in public if not hasattr(ours, name)}
    assert missing - ABSENT <= set(dir(control_flow))
    assert not [name for name in ABSENT if hasattr(ours, name)]


def test_every_absent_name_is_one_of_jaxs():
    jax = pytest.importorskip("jax")
    release = jax.__version_info__[:2]
    not_yet = {n for since, names in NEWER.items() if since > release for n in names.split()}
    with warnings.catch_warnings():  # some that JAX has are deprecated
        warnings.simplefilter("ignore", DeprecationWarning)
        strange = [n for n in ABSENT - not_yet if not hasattr(jax.lax, n)]
        assert not [n for n in strange if not hasattr(jax.lax.linalg, n)]


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
