"""Uses of JAX in released packages, each of which stopped one of them."""

from __future__ import annotations

import copy
import runpy

import pytest

import bindax
from bindax import numpy as jnp
from bindax_core import config
from bindax_core.errors import DuplicateRuleError
from bindax_jax_names._alias import alias_module
from bindax_jax_names._install import use_rules_of_jax
from bindax_transforms.compilation.jit_primitive import jit_p


@pytest.fixture(autouse=True)
def _jax_rules():
    """JAX's attributes, and afterwards the settings of before."""
    before = {"enable_x64": config.enable_x64, "conventions": config.conventions}
    use_rules_of_jax()
    yield
    for name, value in before.items():
        config.update(name, value)


class Named:
    """A callable object whose name is no string, as a kernel with a length named so."""

    __name__ = 3

    def __call__(self, x):
        return x * 2


@pytest.mark.parametrize(
    "transformation",
    [
        *("jit", "vmap", "grad", "value_and_grad", "checkpoint", "jacfwd", "jacrev", "hessian"),
        *("make_jaxpr", "named_call", "pmap"),
    ],
)
def test_functions_whose_name_is_no_string(transformation):
    x = jnp.ones(1) if transformation in ("vmap", "pmap") else 1.0
    assert getattr(alias_module("jax"), transformation)(Named())(x) is not None


def test_a_copy_of_a_primitive_is_one_of_its_own():
    copied = copy.deepcopy(jit_p)
    copied.name = "mine.subroutine"
    assert copied is not jit_p
    assert jit_p.name == "jit"
    assert type(copied) is type(jit_p)
    assert bindax.extend.rules.jvp.find(copied) is not None
    assert float(bindax.jit(bindax.grad(jnp.sin))(0.0)) == 1.0
    program = bindax.make_jaxpr(bindax.jit(jnp.sin))(1.0)
    assert copy.deepcopy(program).jaxpr.eqns[0].primitive is jit_p


TWICE = """
from bindax_jax_names.shims._primitive import Primitive as PrimitiveOfPackage
from bindax_core.extend import Primitive

first = PrimitiveOfPackage("uses.twice")
second = PrimitiveOfPackage("uses.twice")
first.def_impl(lambda x: x + 1)
second.def_impl(lambda x: x + 2)
Primitive("uses.once")
if again:
    Primitive("uses.once")
"""


def test_a_package_may_have_two_primitives_of_a_name(tmp_path):
    path = tmp_path / "package_of_two.py"
    path.write_text(TWICE, encoding="utf-8")
    names = runpy.run_path(str(path), {"again": False}, "package_of_two")
    first, second = names["first"], names["second"]
    assert first.name == second.name == "uses.twice"
    assert float(first.bind(1.0)) == 2.0
    assert float(second.bind(1.0)) == 3.0
    with pytest.raises(DuplicateRuleError, match=r"uses\.once"):
        runpy.run_path(str(path), {"again": True}, "package_of_two_others")


def test_devices_have_a_client_and_shardings_their_devices():
    device = alias_module("jax").devices()[0]
    assert device.client.platform == device.platform
    assert isinstance(device.client.runtime_type, str)
    sharding = alias_module("jax.sharding").SingleDeviceSharding(device)
    assert sharding._device_assignment == (device,)
    assert sharding._addressable_device_assignment == (device,)


def test_no_service_announces_preemptions():
    utilities = alias_module("jax.experimental.multihost_utils")
    with pytest.raises(RuntimeError, match="no service that announces preemptions"):
        utilities.reached_preemption_sync_point(3)


@pytest.mark.parametrize("module", ["jax.numpy", "jax.dtypes"])
def test_no_dtype_is_the_default_float_among_kinds(module):
    names = alias_module(module)
    assert names.issubdtype(None, jnp.floating)
    assert not names.issubdtype(None, alias_module("jax.dtypes").prng_key)


def test_one_level_of_a_tree_has_a_private_name():
    flatten = alias_module("jax._src.tree_util").flatten_one_level
    children, _ = flatten({"b": [1], "a": 2})
    assert list(children) == [2, [1]]
    with pytest.raises(ValueError, match="leaf"):
        flatten(3)


def test_programs_are_printed_and_evaluated_as_in_jax():
    program = bindax.make_jaxpr(lambda x: x + 1)(1.0)
    assert program.pretty_print(use_color=False) == str(program)
    assert program.jaxpr.pretty_print(print_shapes=True) == str(program)
    [found] = alias_module("jax.core").eval_jaxpr(program, program.consts, 2.0)
    assert float(found) == 3.0


def test_zeros_of_tangents_that_do_not_exist():
    names = alias_module("jax.numpy")
    assert names.zeros((2,), alias_module("jax.dtypes").float0).shape == (2,)
    assert names.zeros((2,)).dtype == "float32"


def test_values_of_the_arguments_of_forward_rules():
    names = alias_module("jax.custom_derivatives")
    primal = names.CustomVJPPrimal(2.0, perturbed=True)
    assert names.custom_vjp_primal_tree_values({"a": [primal]}) == {"a": [2.0]}
    with pytest.raises(TypeError, match="each leaf must be a CustomVJPPrimal"):
        names.custom_vjp_primal_tree_values(3.0)


def test_devices_by_platform_and_copies_to_the_host():
    jax = alias_module("jax")
    with jax.default_device("cpu"):
        assert config.default_device == jax.devices("cpu")[0]
    with pytest.raises(ValueError, match="default_device: device must be one of"):
        jax.default_device(3)
    tree = {"x": jnp.ones(2), "y": 3}
    assert jax.copy_to_host_async(tree) is tree


def test_arrays_are_put_where_a_format_without_layout_says():
    jax = alias_module("jax")
    sharding = alias_module("jax.sharding").SingleDeviceSharding(jax.devices()[0])
    form = alias_module("jax.experimental.layout").Format(None, sharding)
    assert jax.device_put(jnp.ones(2), form).sharding == sharding
    found = jax.device_put({"a": jnp.ones(2), "b": 1.0}, {"a": form, "b": None})
    assert found["a"].sharding == sharding
    with pytest.raises(ValueError, match="device_put"):
        jax.device_put(1.0, 3)


def test_the_program_of_a_linearized_function_is_looked_at():
    _, linear = alias_module("jax").linearize(lambda x: jnp.sin(x) * 2, 1.0)
    assert "mul" in str(linear.func.args[0])
    assert "sin" not in str(linear.func.args[0])
