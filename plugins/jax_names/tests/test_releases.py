"""The release that the name ``jax`` claims, what follows it, and the names of the newest one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bindax_core import config

START = "import bindax_jax_names; bindax_jax_names.install()\nimport jax, jax.numpy as jnp\n"


def run(code: str, **environment: str) -> list[str]:
    """Run text with the alias; return the lines that it prints."""
    known = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "BINDAX_"))}
    command = [sys.executable, "-c", START + code]
    done = subprocess.run(
        command, env=known | environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


RELEASES = """
from importlib.metadata import version
from bindax import config
def said(f):
    try:
        return f()
    except (TypeError, ValueError) as error:
        return type(error).__name__
def state():
    closed = jax.make_jaxpr(jnp.sin)(1.0)
    return [
        jax.__version__, jax.__version_info__[:2], jax.version.__version__, version("jax"),
        said(lambda: float(jnp.cross(jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0])))),
        said(lambda: jnp.array(1, None, True, "K", 1).shape),
        isinstance(closed, jax.extend.core.Jaxpr),
    ]
import jax.extend.core
print(state())
with config.override(jax_release="0.10.2"):
    print(state())
"""
NEW = "['0.12.0.1', (0, 12), '0.12.0.1', '0.12.0.1', 'ValueError', 'TypeError', True]"
OLD = "['0.10.2', (0, 10), '0.10.2', '0.10.2', 1.0, (1,), False]"


@pytest.mark.smoke
def test_the_release_is_a_setting() -> None:
    assert run(RELEASES) == [NEW, OLD]
    assert run(RELEASES, BINDAX_JAX_RELEASE="0.10.2") == [OLD, OLD]


@pytest.mark.parametrize("value", ["newest", "0.10", 12, None])
def test_a_release_has_three_numbers_or_four(value: object) -> None:
    with pytest.raises(ValueError, match=r"jax_release must be a release such as '0.10.2'"):
        config.jax_release = value


NAMES = """
import jax.extend.core, jax.ffi, jax.profiler, numpy as np
from jax.experimental import layout, overlap, xla_metadata
assert jax.get_mesh().empty and jax.get_abstract_mesh().empty
with jax.use_abstract_mesh(jax.get_abstract_mesh()):
    pass
for word in ("axis_sizes", "axis_shapes"):
    assert jax.make_mesh(**{word: (1,), "axis_names": ("x",)}).axis_names == ("x",)
for inline in (True, False, *jax.Inline):
    assert float(jax.jit(jnp.sin, inline=inline)(0.0)) == 0.0
try:
    jax.jit(jnp.sin, inline="auto")
except ValueError as error:
    print(error)
identity = lambda x: x
assert layout.explicit_layout(identity, in_layouts=None) is identity
assert layout.explicit_layout(in_layouts=None)(identity) is identity
assert overlap.program_order(identity, enforce=True) is identity
for decorate in (
    xla_metadata.xla_metadata_call(a=1), xla_metadata.must_fuse_call("1"),
    xla_metadata.xla_metadata_call2({"a": 1}), xla_metadata.set_xla_metadata(a=1),
):
    assert float(decorate(identity)(2.0)) == 2.0
assert xla_metadata.xla_metadata_call2(identity, {"a": 1}) is identity
with xla_metadata.fuse_limit(), jax.sharding.no_collectives(frozenset("x")):
    pass
sine, sines = jax.lax.sin_p.impl, []
jax.lax.sin_p.def_impl(lambda x, **params: sines.append(x) or sine(x, **params))
assert float(jax.lax.sin(2.0)) == float(jax.lax.sin_p.impl(2.0)) and len(sines) == 2
jax.lax.sin_p.def_impl(sine)
assert float(jax.lax.sin(2.0)) > 0.9 and len(sines) == 2
context, traced = jax.make_user_context(1), []
doubled = jax.jit(lambda x: traced.append(context.value) or 2 * x)
with context(2):
    doubled(1.0), doubled(2.0)
doubled(1.0), doubled(2.0), context.set_global(3), doubled(1.0)
assert (traced, context.get_global()) == ([2, 1, 3], 3)
assert jax.ffi.abstract_token == jax.extend.core.AbstractToken()
assert isinstance(jax.jit(jax.lax.create_token)(1), jax.extend.core.Token)
assert not isinstance(jax.numpy.ones(0), jax.extend.core.Token)
assert float(jax.ad_checkpoint.checkpoint_name_fwd(3.0, "a")) == 3.0
assert jax.ad_checkpoint.name_p.name == "name"
call_p = jax.extend.core.create_call_primitive("mine")
jaxpr = jax.make_jaxpr(lambda x: [jnp.sin(x), x])(1.0)
assert [float(x) for x in call_p.bind(0.0, call_jaxpr=jaxpr)] == [0.0, 0.0]
for f in (jax.vjp, jax.linearize):
    marks = ({"x": True, "y": False},)
    out, derivative = f(lambda a: a["x"] * a["y"], {"x": 2.0, "y": 3.0}, in_nzs=marks)
    print(float(out), derivative(1.0 if f is jax.vjp else {"x": 1.0, "y": 5.0}))
try:
    jax.vjp(jnp.sin, 1.0, saveable_args=(False,))
except ValueError as error:
    print(error)
policy = jax.checkpoint_policies.save_and_offload_only_these_names(
    names_which_can_be_saved=["a"], names_which_can_be_offloaded=["b"],
    offload_src="device", offload_dst="pinned_host",
)
print(policy)
ref = jax.new_ref(jnp.zeros(2))
jax.jit(lambda r: jax.ref.addupdate(r, 0, 1.0))(ref)
assert isinstance(ref, jax.Ref) and isinstance(jax.typeof(ref), jax.ref.AbstractRef)
assert repr(jax.typeof(ref)) == "Ref{float32[2]}" and jax.typeof(ref).shape == (2,)
assert jax.freeze(ref)[0] == 1.0
"""


def test_names_of_the_newest_release() -> None:
    text, by_vjp, by_linearize, kept, policy = run(NAMES)
    assert text == "jit: inline must be a bool or a jax.Inline, but it is 'auto'."
    assert by_vjp.startswith("6.0 ({'x': Array(3., dtype=float32")
    assert "'y': Array(0., dtype=float32" in by_vjp
    assert by_linearize.startswith("6.0 3.")
    assert kept.startswith("jax.vjp: saveable_args must be True")
    assert policy.startswith("save_and_offload_only_these_names(save_only_these_names('a'), ")


LOOKED_AT = """
import sys, pickle, numpy as np
assert "jax.interpreters.xla" in sys.modules and "jax.core" in sys.modules
assert {"sin", "linalg", "ndarray"} <= set(vars(jnp))
x = jnp.ones(2)
assert type(x).__module__.startswith("jax") and jax.Array.__module__ == "jax"
assert jax.Array.__name__ == "Array" and jax.ShapeDtypeStruct.__name__ == "ShapeDtypeStruct"
assert pickle.loads(pickle.dumps(jax.typeof(x))) == jax.typeof(x)
assert b"jax" not in pickle.dumps(jax.typeof(x)) and jax.ShapeDtypeStruct.__module__ == "jax"
seen = []
def f(x):
    seen.append(type(x).__module__)
    return x
jax.jit(f)(1.0), jax.vmap(f)(x), jax.jvp(f, (1.0,), (1.0,)), jax.grad(f)(1.0)
assert all(module.startswith("jax._src.interpreters.") for module in seen), seen
assert np.array_equal(pickle.loads(pickle.dumps(x)), x)
assert isinstance(1.0, jax.typing.ArrayLike) and isinstance(x, jax.typing.ArrayLike)
assert isinstance(np.ones(2), jax.typing.ArrayLike) and not isinstance("a", jax.typing.ArrayLike)
assert all(isinstance(x, jax.typing.ArrayLike) for x in (np.float32(1), np.True_))
assert not isinstance(np.str_("a"), jax.typing.ArrayLike)
assert jax.dtypes.canonicalize_dtype(None) == np.float32
key = jax.random.key(0)
assert jax.dtypes.canonicalize_dtype(key.dtype, allow_extended_dtype=True) == key.dtype
try:
    jax.dtypes.canonicalize_dtype(key.dtype)
except ValueError as error:
    print(error)
assert jax.random.uniform(key, (), minval=jnp.zeros(1)).shape == (1,)
try:
    jax.random.uniform(key, (), minval=jnp.zeros(2))
except ValueError as error:
    print(error)
assert jnp.ones(2).unsafe_buffer_pointer() > 0
assert key._impl.key_shape == (2,) and not hasattr(jnp.ones(2), "_impl")
assert (key._base_array == jax.random.key_data(key)).all()
assert not hasattr(jnp.ones(2), "_base_array")
assert key.unsafe_buffer_pointer() == key._base_array.unsafe_buffer_pointer()
assert jnp.full(2, 0x85A308D3, "uint32")[0] == jnp.array(0x85A308D3, "uint32")
jax.config.update("jax_random_seed_offset", 3)
assert jax.random.key_data(jax.random.key(17)).tolist() == [0, 20]
jax.config.update("jax_random_seed_offset", 0)
jax.config.update("jax_check_static_indices", True)
try:
    print("no error", jnp.arange(3)[5])
except IndexError:
    pass
jax.config.update("jax_check_static_indices", False)
assert jnp.arange(3)[5] == 2
from jax._src.distributed import global_state
assert global_state.client is None and global_state.num_processes == 1
from jax._src.numpy.util import promote_dtypes_complex, promote_dtypes_inexact
assert [x.dtype.name for x in promote_dtypes_complex(1, 2.0)] == ["complex64"] * 2
assert [x.dtype.name for x in promote_dtypes_inexact(1, 2)] == ["float32"] * 2
from jax._src import dtypes
names = "bool", "int8", "uint64", "float16", jnp.bfloat16, "float64", "complex64", "complex128"
for to, wanted in (
    (dtypes.to_numeric_dtype, ["int32", *names[1:]]),
    (dtypes.to_inexact_dtype, ["float32", "float32", "float64", *names[3:]]),
    (dtypes.to_floating_dtype, [*["float32"] * 2, "float64", *names[3:6], "float32", "float64"]),
    (dtypes.to_complex_dtype, [f"complex{64 + 64 * wide}" for wide in (0, 0, 1, 0, 0, 1, 0, 1)]),
):
    assert [to(name) for name in names] == [np.dtype(name) for name in wanted], to
from jax._src.public_test_util import check_close, check_grads
check_close({"a": jnp.ones(3), "b": 2}, {"a": np.ones(3) + 1e-6, "b": 2})
for one, other in ((jnp.ones(3), np.ones(3) + 1e-4), (1, 2), (jnp.ones(1), 1.0)):
    try:
        check_close(one, other)
    except AssertionError:
        check_close(jnp.ones(()), 1.1, rtol={np.float32: 0.2}, atol=0)
    else:
        raise ValueError(f"{one} is close to {other}")
import jax.extend.backend, jax.extend.core
assert list(jax.extend.backend.backends()) == ["cpu"]
closed = jax.make_jaxpr(lambda x: x + np.arange(3.0))(1.0)
assert len(closed.literals) == closed.num_consts == len(closed.constvars)
assert closed.invars == closed.jaxpr.invars and closed.jaxpr.jaxpr is closed.jaxpr
assert closed.replace(outvars=[]).out_avals == [] and closed.with_consts(closed.consts).consts
eqn = closed.eqns[-1]
assert str(eqn.source_info.name_stack) == "" and eqn.ctx.compute_type is None
scoped = jax.make_jaxpr(jax.grad(jax.named_scope("layer")(jnp.sin)))(1.0)
stack = scoped.eqns[-1].source_info.name_stack
assert str(stack) == "transpose(jvp(layer))" and len(stack) == 3 and str(stack[1:]) == "jvp(layer)"
assert str(stack[:0].transform("vmap") + stack.extend("x")) == "vmap(transpose(jvp(layer)))/x"
assert not eqn.primitive.call_primitive
assert not closed.is_high and not closed.jaxpr.is_high
assert jax.typeof(x).at_least_vspace().dtype == np.float32
assert repr(jax.core.TraceTag()) == "TraceTag"
def names(x):
    print(jax.extend.core.unsafe_get_axis_names_DO_NOT_USE())
    return x
jax.vmap(names, axis_name="i")(x)
names(x)
"""


def test_what_packages_look_at() -> None:
    extended, bounds, mapped, plain = run(LOOKED_AT)
    assert extended.startswith("canonicalize_dtype: key<fry> is an extended dtype; give")
    assert bounds.startswith("uniform: ")
    assert (mapped, plain) == ("['i']", "[]")


PROGRAMS = """
import numpy as np, tempfile, pathlib
from jax.interpreters import partial_eval as pe
closed = jax.make_jaxpr(lambda x, y: (x + np.arange(2.0), y * 2))(jnp.ones(2), 1.0)
plain = pe.convert_constvars_jaxpr(closed.jaxpr)
assert not plain.constvars and len(plain.invars) == 2 + closed.num_consts
assert len(pe.close_jaxpr(plain).invars) == len(plain.invars)
moved = pe.move_binders_to_back(closed, [True, False])
assert moved.invars == closed.invars[::-1]
assert pe.move_binders_to_front(closed, [False, True]).invars == closed.invars[::-1]
assert [a.shape for a in pe.prune_closed_jaxpr_outputs(closed, [False, True]).out_avals] == [()]
types = pe.abstract_eval_fun(lambda x: [x, x[0]], jax.typeof(jnp.ones(2)), debug_info=None)
assert [t.shape for t in types] == [(2,), ()]
with tempfile.TemporaryDirectory() as folder:
    session = jax.profiler.ProfileSession()
    try:
        session.profile_data
    except RuntimeError as error:
        print(error)
    with session:
        assert session.is_running
        jax.jit(jnp.sin)(1.0).block_until_ready()
    assert not session.is_running and list(session.profile_data.planes)
    jax.profiler.export_profile_data(session, folder, session_id="mine")
    assert list(pathlib.Path(folder).glob("plugins/profile/mine/*.xplane.pb"))
    try:
        jax.profiler.export_profile_data(3, folder)
    except TypeError as error:
        print(error)
"""


def test_programs_and_sessions_of_the_profiler() -> None:
    pytest.importorskip("jaxlib")
    nothing, other = run(PROGRAMS)
    assert nothing == "ProfileSession: nothing has been recorded; call start, then stop."
    assert other.startswith("export_profile_data takes a ProfileSession, but got int; copy")
