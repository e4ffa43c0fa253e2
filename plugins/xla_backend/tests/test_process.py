"""What holds for a whole process: what is imported, JAX beside it, and how it ends."""

from __future__ import annotations

import importlib.util

import pytest

PROGRAM = """
import sys
import ml_dtypes, numpy as np
from bindax_core import ShapedArray
from bindax_core.extend import (
    ClosedJaxpr, Jaxpr, JaxprEqn, Var, abstract_eval, config, find_backend, impl, jvp, lowering,
    primitive, transpose, vmap)
import bindax_xla_backend.extend

def declare(name, function, lower):
    kind = lowering["stablehlo"]
    return primitive(
        "process." + name, impl(function), abstract_eval(lambda x: x), jvp.absent("test"),
        vmap.absent("test"), transpose.absent("test"),
        kind(lower) if lower else kind.absent("test"))

sin_p = declare("sin", np.sin, lambda ctx, x: ctx.op("stablehlo.sine", [x])[0])
host_p = declare("host", np.cos, None)
config.derived_rules = "silent"
backend = find_backend("xla")

def run(prim, x):
    v, w = (Var(ShapedArray(x.shape, x.dtype)) for _ in range(2))
    eqns = [] if prim is None else [JaxprEqn(prim, [v], [w], {})]
    program = ClosedJaxpr(Jaxpr([], [v], [w if eqns else v], eqns))
    return backend.compile(program, name="f", donated=(True,))(x)[0]

def everything():
    for dtype in (np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.int4):
        x = np.ones(3, dtype)
        prim = None if dtype is ml_dtypes.int4 else sin_p
        y = run(prim, x)
        expected = x if prim is None else np.sin(x)
        np.testing.assert_allclose(
            np.asarray(y).astype(np.float64), expected.astype(np.float64), rtol=1e-2)
        assert repr(y).startswith("Array([")
        y.block_until_ready()
        y.delete()
    np.testing.assert_allclose(run(host_p, np.ones(3)), np.cos(np.ones(3)))
    try:
        run(declare("bad", np.sin, lambda ctx, x: ctx.op("stablehlo.add", [x])[0]), np.ones(2))
    except Exception as error:
        assert "built an operation that is not valid" in str(error), error
    v = Var(ShapedArray((2,), np.float32))
    lowered = backend.lower(ClosedJaxpr(Jaxpr([], [v], [v], [])), name="f")
    compiled = lowered.compile()
    compiled.as_text(), compiled.cost_analysis(), compiled.memory_analysis()
    lowered.as_text(debug_info=True)
"""

JAX = """
import jax, jax.numpy as jnp
def check_jax():
    assert jnp.arange(3).dtype == jnp.int32
    assert float(jax.jit(jax.grad(jnp.sin))(0.0)) == 1.0
    np.testing.assert_array_equal(jnp.arange(4.0) + 1, [1, 2, 3, 4])
    assert jnp.ones(3, jnp.bfloat16).sum() == 3
"""

needs_jax = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="JAX is not installed"
)


def test_import_loads_no_jaxlib(run_python):
    run_python(
        "import sys, bindax_core, bindax_xla_backend, bindax_xla_backend.extend\n"
        "import bindax_xla_backend.plugin\n"
        "assert not {'jax', 'jaxlib'} & set(sys.modules)"
    )


def test_jax_is_never_imported_and_nothing_is_written_to_the_terminal(run_python):
    program = "sys.stderr = sys.stdout\neverything()\nassert 'jax' not in sys.modules"
    assert run_python(PROGRAM + program) == ""


@needs_jax
def test_jax_imported_first(run_python):
    run_python(
        JAX + PROGRAM + "check_jax(); everything(); check_jax(); everything()",
        JAX_PLATFORMS="cpu",
    )


@needs_jax
def test_jax_imported_later(run_python):
    run_python(
        PROGRAM
        + "everything()\nassert 'jax' not in sys.modules\n"
        + JAX
        + "check_jax(); everything(); check_jax()",
        JAX_PLATFORMS="cpu",
    )


@pytest.mark.every(3)
@pytest.mark.parametrize("attempt", range(3))
def test_exit_waits_for_callbacks(run_python, attempt):
    printed = run_python(
        PROGRAM
        + """
import time
def slow(x):
    time.sleep(0.1)
    print("ran", flush=True)
    return np.asarray(x)
slow_p = declare("slow", slow, None)
x = run(slow_p, np.ones(3))
x = run(slow_p, x)
"""
    )
    assert printed == "ran\nran\n"


def test_disk_cache_serves_another_process(run_python, tmp_path):
    environment = {"BINDAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache")}
    run_python(PROGRAM + "run(sin_p, np.ones(3))", **environment)
    run_python(
        PROGRAM
        + "from bindax_xla_backend.execution import compilation\n"
        + "compilation._compile = lambda *args: 1 / 0\n"
        + "np.testing.assert_allclose(run(sin_p, np.ones(3)), np.sin(np.ones(3)))",
        **environment,
    )


BROKEN = {
    "a missing library": 'raise ImportError("libmissing.so: cannot open shared object file")',
    "another version": "",
    "an error of its own": "1 / 0",
}


@pytest.fixture(params=BROKEN)
def broken_jaxlib(request, tmp_path):
    """An environment in which jaxlib is found and does not import."""
    package = tmp_path / "jaxlib"
    package.mkdir()
    (package / "__init__.py").write_text(BROKEN[request.param], encoding="utf-8")
    return {"PYTHONPATH": str(tmp_path)}


def test_programs_are_interpreted_where_jaxlib_does_not_import(run_python, broken_jaxlib):
    run_python(
        """
import warnings
import bindax_core as bx
import bindax_transforms as bt
from bindax_core.errors import PluginWarning
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert float(bt.jit(lambda x: x)(3.0)) == 3.0
    assert float(bt.jit(lambda x: (x, x))(3.0)[1]) == 3.0
assert bx.default_backend() == "numpy", bx.default_backend()
(warning,) = caught
assert warning.category is PluginWarning, warning
text = str(warning.message)
assert "the plugin 'xla_backend' of bindax-xla-backend" in text, text
assert "the backend 'xla' needs jaxlib, which does not import: " in text, text
assert "`bindax doctor` shows the traceback" in text, text
""",
        **broken_jaxlib,
    )


@pytest.mark.every(3)
def test_the_backend_says_by_name_that_jaxlib_does_not_import(run_python, broken_jaxlib):
    run_python(
        """
import bindax_core as bx
import bindax_transforms as bt
from bindax_core.errors import PluginLoadError
try:
    bt.jit(lambda x: x, backend="xla")(3.0)
except PluginLoadError as error:
    text = str(error)
    cause = error.__cause__.__cause__
else:
    raise AssertionError("it must not be interpreted in silence")
reason = f"needs jaxlib, which does not import: {type(cause).__name__}: {cause}. Install it again:"
assert reason in text, text
assert "pip install --force-reinstall 'jaxlib<0.13,>=0.10.2'" in text, text
(record,) = [r for r in bx.diagnose_plugins() if "xla-backend" in r["subject"]]
assert "which does not import" in record["text"], record
assert "jaxlib/__init__.py" in record["traceback"] or "jaxlib.version" in record["traceback"]
""",
        PYTHONWARNINGS="ignore",
        **broken_jaxlib,
    )


def test_the_first_program_imports_nothing_for_other_processes(run_python):
    run_python(
        """
import subprocess, sys, numpy as np, bindax
subprocess.Popen = None  # nor does it start one
bindax.jit(lambda x: bindax.lax.add(x, x))(np.ones(3, np.float32))
heavy = ("asyncio", "attr", "ssl", "socket", "jaxlib.mlir.dialects._stablehlo_ops_gen", "jax")
assert not [name for name in heavy if name in sys.modules]
"""
    )
