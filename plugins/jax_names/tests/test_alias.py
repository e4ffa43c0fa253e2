"""``import jax`` gives the alias: its modules, names, versions and messages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bindax_jax_names._table import known_names


def run(code: str, *arguments: str, ok: bool = True) -> str:
    """Run text with the alias; gives what it prints, or with ``ok=False`` its error."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "BINDAX_"))}
    done = subprocess.run(
        [sys.executable, "-m", "bindax.jax", *(arguments or ("-c", code))],
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert (done.returncode == 0) == ok, done.stderr[-2000:]
    return done.stdout if ok else done.stderr


def test_every_public_module_can_be_imported():
    assert len(known_names()) > 200
    run(
        "from importlib import import_module\n"
        "from bindax_jax_names._table import known_names\n"
        "for path in known_names():\n"
        "    import_module(path)\n"
    )


def test_names_are_those_of_bindax():
    out = run(
        "import jax, bindax, jax.numpy as jnp, jax.scipy.stats.norm as norm\n"
        "from jax import lax, random\n"
        "from jax.numpy.fft import *\n"
        "assert jnp.sin is bindax.numpy.sin and jax.hessian is bindax.hessian\n"
        "assert norm.logpdf(0.0) < 0 and ifft is bindax.numpy.fft.ifft\n"
        "assert jax.grad(lambda x: lax.sin(x))(0.0) == 1.0\n"
        "assert 'grad' in dir(jax) and 'thread_guard' not in dir(jax)\n"
        "print(jnp.ones(2, 'float64').dtype, jax.__version__, jax.__version_info__)\n"
        "import numpy\n"
        "from importlib.metadata import version\n"
        "text = jax.print_environment_info(return_string=True)\n"
        "assert f'jax:    {jax.__version__}' in text and f'numpy:  {numpy.__version__}' in text\n"
        "print(version('jax'), jax.default_backend(), jax.devices('cpu') == jax.devices())\n"
    )
    assert out.splitlines()[1] == "0.12.0.1 cpu True"
    assert "0.12.0.1 (0, 12, 0, 1)" in out


@pytest.mark.smoke
def test_missing_names_are_said_and_logged():
    out = run(
        "import jax, bindax.jax_names\n"
        "for ask in ('jax.thread_guard', 'jax.lax.nothing_of_this_name'):\n"
        "    try:\n"
        "        eval(ask)\n"
        "    except AttributeError as error:\n"
        "        print(error)\n"
        "for text in ('from jax import thread_guard', 'import jax.no_such_module',\n"
        "             'from jax._src.core import secret'):\n"
        "    try:\n"
        "        exec(text)\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
        "print([entry.name for entry in bindax.jax_names.missing_names()])\n"
    )
    lines = out.splitlines()
    assert "jax.thread_guard, asked for at" in lines[0]
    assert "is a name of JAX 0.12.0.1 that bindax does not have" in lines[0]
    assert lines[1] == "module 'jax.lax' has no attribute 'nothing_of_this_name'"
    assert "that bindax does not have" in lines[2]
    assert "has no such module" in lines[3]
    assert "older or a newer JAX" in lines[3]
    assert "is a private name of JAX that the alias does not serve" in lines[4]
    assert "'jax.thread_guard'" in lines[5]
    assert "nothing_of_this_name" not in lines[5]


def test_settings_of_jax():
    out = run(
        "import jax, jax.numpy as jnp, numpy as np\n"
        "assert jax.config.jax_enable_x64 is False\n"
        "jax.config.update('jax_numpy_rank_promotion', 'raise')\n"
        "assert jax.config.jax_numpy_rank_promotion == 'raise'\n"
        "jax.config.update('jax_enable_x64', True)\n"
        "print(jnp.ones(2).dtype, jax.config.x64_enabled)\n"
        "with jax.allow_f16_reductions(False):\n"
        "    assert not jax.config.jax_allow_f16_reductions\n"
        "    assert jnp.ones(2049, 'float16').sum() == 2048\n"
        "jax.config.update('jax_disable_bwd_checks', True)\n"
        "with jax.enable_checks(), jax.legacy_prng_key('error'), jax.softmax_custom_jvp(False):\n"
        "    assert jax.config.jax_enable_checks and not jax.config.jax_softmax_custom_jvp\n"
        "    assert jax.jit(lambda x: x + 1)(1.0) == 2.0\n"
        "assert not jax.config.jax_enable_checks\n"
        "try:\n"
        "    jax.config.update('no_setting', 1)\n"
        "except AttributeError as error:\n"
        "    print(error)\n"
    )
    assert out.splitlines() == ["float64 True", "Unrecognized config option: no_setting"]


def test_generators_of_random_numbers():
    run(
        "import jax, jax.numpy as jnp, jax.extend as jex\n"
        "with jax.enable_custom_prng():\n"
        "    assert str(jax.random.PRNGKey(3).dtype) == 'key<fry>'\n"
        "assert jax.random.PRNGKey(3).dtype == 'uint32'\n"
        "with jax.default_prng_impl('rbg'):\n"
        "    assert jax.random.PRNGKey(3).shape == (4,)\n"
        "jax.config.update('jax_threefry_partitionable', False)\n"
        "assert not jax.config.jax_threefry_partitionable\n"
        "assert jax.random.split(jax.random.PRNGKey(0))[0, 0] == 4146024105\n"
        "def define():\n"
        "    return jex.random.define_prng_impl(\n"
        "        key_shape=(3,), seed=lambda _: jnp.zeros(3, 'uint32'),\n"
        "        split=lambda _, shape: jnp.ones((*shape, 3), 'uint32'),\n"
        "        random_bits=lambda _, width, shape: jnp.zeros(shape, f'uint{width}'),\n"
        "        fold_in=lambda words, _: words)\n"
        "first, second = define(), define()\n"
        "keys = jax.random.split(jax.random.key(1, impl=first), 2)\n"
        "assert keys.shape == (2,) and jax.random.uniform(keys[0]) == 0\n"
    )


@pytest.mark.smoke
def test_arguments_for_several_devices():
    run(
        "import jax, jax.numpy as jnp\n"
        "from jax import lax\n"
        "x = jnp.ones(2, out_sharding=None)\n"
        "jax.jit(lambda x: x, device=jax.devices()[0], out_shardings=None)(x)\n"
        "jax.vmap(lambda x: x, spmd_axis_name='data')(x)\n"
        "lax.scan(lambda c, y: (c, y), 0.0, x, _split_transpose=True)\n"
        "assert jax.ShapeDtypeStruct((2,), jnp.float32, sharding=None).shape == (2,)\n"
        "assert isinstance(jax.eval_shape(jnp.sin, x), jax.ShapeDtypeStruct)\n"
        "assert jax.typeof(x).sharding.is_fully_replicated\n"
        "spec = jax.ShapeDtypeStruct((2,), jnp.float32)\n"
        "assert spec == jax.ShapeDtypeStruct(spec.shape, spec.dtype, sharding=spec.sharding)\n"
        "assert jax.typeof(spec).str_short() == 'float32[2]' == jax.core.get_aval(x).str_short()\n"
        "import typing\n"
        "kinds = typing.get_args(jax.typing.ArrayLike)\n"
        "assert jax.jit(lambda x: x if isinstance(x, kinds[0]) else None)(x) is not None\n"
        "from jax.experimental import mesh_utils\n"
        "mesh = jax.sharding.Mesh(mesh_utils.create_device_mesh((1, 1)), ('a', 'b'))\n"
        "assert mesh.abstract_mesh.are_all_axes_auto and not mesh.are_all_axes_manual\n"
        "try:\n"
        "    mesh_utils.create_device_mesh((2,))\n"
        "except ValueError as error:\n"
        "    assert 'takes 2 devices, but there are 1' in str(error)\n"
        "assert jax.pmap(lambda x: lax.psum(x, 'i'), axis_name='i')(x[None])[0, 0] == 1\n"
        "try:\n"
        "    jax.pmap(lambda x: x)(jnp.ones(5))\n"
        "except ValueError as error:\n"
        "    assert 'there are 1 devices' in str(error)\n"
        "f = jax.jit(jnp.sin)\n"
        "f(x), f(x)\n"
        "assert f._cache_size() == 1\n"
    )


def test_jax_decides_where_bindax_decides_otherwise():
    run(
        "import jax, jax.numpy as jnp\n"
        "x = jnp.arange(3.0)\n"
        "assert x[5] == 2 and x[-7] == 0 and (x[None][:, 9] == 2).all()\n"
        "for f in (jnp.abs, jax.jit(jnp.abs)):\n"
        "    assert jax.grad(f)(0.0) == 1 and jax.grad(f)(-2.0) == -1\n"
        "    assert jax.vmap(jax.grad(f))(x).tolist() == [1, 1, 1]\n"
        "twice = jax.custom_jvp(lambda x: 2 * x)\n"
        "twice.defjvp(lambda primals, tangents: (twice(*primals), twice(*tangents)))\n"
        "assert type(twice(3)) is int and jax.jit(twice)(3).shape == ()\n"
        "try:\n"
        "    jax.jvp(jnp.sin, (1.0,), (1,))\n"
        "except TypeError as error:\n"
        "    assert 'must have the type float32[]' in str(error)\n"
        "import bindax\n"
        "with bindax.config.override(conventions='bindax'):\n"
        "    assert jax.grad(jnp.abs)(0.0) == 0\n"
    )


def test_types_of_arrays_are_of_one_class():
    run(
        "import jax, jax.numpy as jnp\n"
        "given = jax.ShapeDtypeStruct([2], 'float32', sharding=None, is_ref=False)\n"
        "assert type(given) is jax.ShapeDtypeStruct is jax.core.ShapedArray\n"
        "assert type(jax.eval_shape(jnp.sin, given)) is type(jax.typeof(jnp.ones(2)))\n"
        "assert jax.eval_shape(jnp.sin, given) == given\n"
        "assert type(jax.dtypes.bfloat16(1)) is jax.dtypes.bfloat16\n"
        "assert jnp.ones(2, jax.dtypes.bfloat16).dtype == jnp.bfloat16\n"
        "assert not jnp.issubdtype(jax.dtypes.float0, jnp.inexact)\n"
        "try:\n"
        "    jax.ShapeDtypeStruct((2,), None)\n"
        "except ValueError as error:\n"
        "    assert 'dtype must be specified' in str(error)\n"
        "assert jax.lib.__version__ == jax.__version__\n"
        "import io\n"
        "file = io.BytesIO()\n"
        "jnp.save(file, 0.1)\n"
        "file.seek(0)\n"
        "import numpy as np\n"
        "assert np.load(file) == 0.1\n"
    )


def test_equations_are_applied_again():
    run(
        "import jax, jax.numpy as jnp\n"
        "program = jax.make_jaxpr(lambda x: jax.nn.relu(jnp.sin(x)))(1.0)\n"
        "values = {program.jaxpr.invars[0]: 1.0}\n"
        "for eqn in program.eqns:\n"
        "    operands = [values[v] for v in eqn.invars]\n"
        "    params = eqn.primitive.get_bind_params(eqn.params)\n"
        "    outs = eqn.primitive.bind(*operands, **params)\n"
        "    values.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))\n"
        "assert values[program.jaxpr.outvars[0]] == jnp.sin(1.0)\n"
    )


def test_arrays_of_pickles_and_classes_that_are_not_there():
    out = run(
        "import pickle, numpy as np, jax\n"
        "class Named:\n"
        "    def __init__(self, module, name): self.parts = module, name\n"
        "def load(module, name):\n"
        "    return pickle.loads(b'c' + module.encode() + b'\\n' + name.encode() + b'\\n.')\n"
        "make = load('jax._src.array', '_reconstruct_array')\n"
        "host = np.arange(3.0, dtype=np.float32)\n"
        "fun, args, state = host.__reduce__()\n"
        "print(make(fun, args, state, {'weak_type': False}))\n"
        "try:\n"
        "    load('jax._src.nowhere', 'Thing')\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert out.startswith("[0. 1. 2.]")
    assert "jax._src.nowhere" in out
    assert "private name of JAX" in out


def test_programs_are_run_with_their_arguments(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, jax, helper\nprint(__name__, sys.argv[1:], helper.x)\n", encoding="utf-8"
    )
    (tmp_path / "helper.py").write_text(
        "import jax.numpy as jnp\nx = jnp.float32(2)\n", encoding="utf-8"
    )
    assert run("", str(program), "a", "b") == "__main__ ['a', 'b'] 2.0\n"
    assert "usage: python -m bindax.jax" in run("", "--help", ok=False)
    assert "there is no program 'nothing.py'" in run("", "nothing.py", ok=False)
    assert "usage" in run("", "-m", ok=False)


def test_the_real_jax_is_not_replaced():
    code = (
        "import sys, types\n"
        "real = sys.modules['jax'] = types.ModuleType('jax')\n"
        "real.__version__, real.__file__ = '0.10.2', '/somewhere/jax'\n"
        "import bindax.jax_names\n"
        "try:\n"
        "    bindax.jax_names.install()\n"
        "except ImportError as error:\n"
        "    print(error)\n"
        "assert sys.modules['jax'] is real\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "the real JAX 0.10.2 is loaded already, from /somewhere/jax" in done.stdout
    assert "python -m bindax.jax PROGRAM" in done.stdout


def test_modules_without_contents_exist():
    run("import jax.export, jax.ffi")


def test_programs_for_several_devices():
    out = run(
        "import os\n"
        "os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=8'\n"
        "import jax, jax.numpy as jnp, numpy as np\n"
        "from jax.sharding import AxisType, PartitionSpec as P\n"
        "mesh = jax.make_mesh((4, 2), ('x', 'y'), axis_types=(AxisType.Explicit,) * 2)\n"
        "jax.set_mesh(mesh)\n"
        "table = np.arange(64, dtype=np.float32).reshape(8, 8)\n"
        "x = jax.reshard(table, P('x', None))\n"
        "y = jnp.einsum('ij,jk->ik', x, x, out_sharding=P('x', 'y'))\n"
        "assert np.allclose(y, table @ table)\n"
        "assert np.allclose(x.at[jnp.array([1, 2])].get(out_sharding=P()), table[1:3])\n"
        "f = jax.sharding.auto_axes(jnp.sin, out_sharding=P('x'))\n"
        "assert np.allclose(jax.jit(f)(x), np.sin(table), atol=1e-6)\n"
        "def part(x):\n"
        "    start = jax.lax.pcast(jnp.zeros(8), ('x',), to='varying')\n"
        "    return jax.lax.psum(jax.lax.fori_loop(0, 2, lambda i, c: c + x[i], start), 'x')\n"
        "total = jax.shard_map(part, in_specs=P('x'), out_specs=P())(x)\n"
        "assert np.allclose(total, table.sum(0))\n"
        "init = jax.nn.initializers.normal()\n"
        "w = init(jax.random.key(0), (8, 8), jnp.float32, P('x'))\n"
        "host = jax.jit(lambda w: jax.device_put(w + 1, jax.memory.Space.Host))(w)\n"
        "print(mesh.explicit_axes, host.sharding.memory_kind)\n"
        "with jax.sharding.use_abstract_mesh(jax.sharding.get_abstract_mesh()):\n"
        "    jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((3,), ('z',)))\n",
        ok=False,
    )
    assert "use_abstract_mesh cannot change the size of the mesh at work" in out


def test_flags_of_absl_are_parsed_once() -> None:
    out = run(
        "import sys, types\n"
        "class Flags:\n"
        "    parsed = 0\n"
        "    def is_parsed(self): return self.parsed > 0\n"
        "    def __call__(self, argv, known_only): self.parsed += known_only\n"
        "flags = sys.modules['absl.flags'] = types.ModuleType('absl.flags')\n"
        "flags.FLAGS = Flags()\n"
        "import jax\n"
        "jax.config.config_with_absl()\n"
        "print(flags.FLAGS.parsed)\n"
        "jax.config.parse_flags_with_absl(), jax.config.parse_flags_with_absl()\n"
        "print(flags.FLAGS.parsed)\n"
    )
    assert out.split() == ["0", "1"]
