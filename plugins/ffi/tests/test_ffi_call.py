"""Calls of targets that NumPy computes: arguments, batches, errors."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from bindax_core import ShapeDtypeStruct
from bindax_core.errors import BackendError, MissingRuleError
from bindax_core.extend import config, find_backend
from bindax_ffi import ffi_call, pycapsule, register_ffi_target, register_ffi_type
from bindax_transforms import custom_jvp, grad, jit, jvp, make_jaxpr, vmap

F32 = ShapeDtypeStruct((2,), np.float32)
pytestmark = pytest.mark.smoke
X = np.array([1.0, 2.0], np.float32)
STAGES = pytest.mark.parametrize("stage", [lambda f: f, jit], ids=["eager", "jit"])

register_ffi_target("test.scaled", numpy=lambda x, *, by=2.0: x * x.dtype.type(by))
register_ffi_target("test.sum_and_shapes", numpy=lambda x, y: (x + y, np.array(y.ndim)))


@STAGES
def test_results_have_the_structure_of_their_types(stage):
    def shapes(kinds):
        return stage(lambda x: ffi_call("test.sum_and_shapes", kinds)(x, x))(X)

    ndim = ShapeDtypeStruct((), np.int64)
    assert [y.tolist() for y in shapes([F32, ndim])] == [[2.0, 4.0], 1]
    assert isinstance(shapes((F32, ndim)), tuple)
    assert stage(ffi_call("test.scaled", F32))(X).tolist() == [2.0, 4.0]
    assert ffi_call("test.scaled", X)(X, by=-1).tolist() == [-1.0, -2.0]


@STAGES
@pytest.mark.parametrize(
    ("method", "ndim"),
    [
        ("sequential", 1),
        ("sequential_unrolled", 1),
        ("expand_dims", 2),
        ("broadcast_all", 2),
        ("legacy_vectorized", 1),
    ],
)
def test_methods_of_vmap_decide_what_a_kernel_gets(stage, method, ndim):
    batched = "sequential" not in method
    register_ffi_target(
        "test.ranks", numpy=lambda x, y: (x + y, np.full(x.shape[:1] if batched else (), y.ndim))
    )
    kinds = (F32, ShapeDtypeStruct((), np.int64))
    call = ffi_call("test.ranks", kinds, vmap_method=method)
    xs = np.arange(6, dtype=np.float32).reshape(2, 3)
    sums, ranks = stage(vmap(call, in_axes=(1, None)))(xs, X)
    np.testing.assert_array_equal(sums, xs.T + X)
    assert ranks.tolist() == [ndim] * 3


@pytest.mark.parametrize(
    ("method", "second"), [("legacy_vectorized", (0,)), ("expand_dims", (1, 0))]
)
def test_layouts_have_the_axis_of_a_batch_where_operands_have(method, second):
    call = ffi_call(
        "test.scaled", F32, vmap_method=method, input_layouts=[(0,), (0,)], output_layouts=(0,)
    )
    (*_, eqn) = make_jaxpr(vmap(call, (0, None)))(np.stack([X, X]), X).eqns
    assert eqn.params["input_layouts"] == ((1, 0), second)
    assert eqn.params["output_layouts"] == ((1, 0),)


def test_vmap_needs_a_method():
    with pytest.raises(ValueError, match="give vmap_method='sequential' for one call for each"):
        vmap(ffi_call("test.scaled", F32))(X[None])


def test_a_derivative_comes_from_custom_jvp():
    call = ffi_call("test.scaled", F32)
    for differentiated in (lambda: jvp(call, (X,), (X,)), lambda: grad(lambda x: call(x)[0])(X)):
        with pytest.raises(MissingRuleError, match="around ffi_call with custom_jvp or custom_vjp"):
            differentiated()
    scaled = custom_jvp(call)
    scaled.defjvp(lambda primals, tangents: (scaled(*primals), 2 * tangents[0]))
    assert grad(lambda x: scaled(x)[1])(X).tolist() == [0.0, 2.0]


def test_side_effects_are_kept():
    seen = []

    def look(x):
        seen.append(x.tolist())
        return x

    register_ffi_target("test.look", numpy=look)

    @jit
    def f(x):
        ffi_call("test.look", F32, has_side_effect=True)(x)
        ffi_call("test.look", F32)(x + 1)
        return x

    f(X).block_until_ready()
    assert [1.0, 2.0] in seen
    if find_backend().name != "numpy":  # the interpreter drops nothing
        assert len(seen) == 1


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, "vmap_method of ffi_call must be one of None, 'sequential'",
         lambda: ffi_call("t", F32, vmap_method="loop")),
        (ValueError, "custom_call_api_version is 4; pass attributes by keyword",
         lambda: ffi_call("t", F32, legacy_backend_config="x")),
        (ValueError, "kernels of version 1 take no attributes, but got a; use legacy_backend_con",
         lambda: ffi_call("t", F32, custom_call_api_version=1)(X, a=1)),
        (TypeError, r"must be ShapeDtypeStruct\(shape, dtype\), an array, .* holds 3",
         lambda: ffi_call("t", [F32, 3])),
        (ValueError, "input_layouts of ffi_call has 2 layouts, but there are 1 inputs",
         lambda: ffi_call("t", F32, input_layouts=[None, None])(X)),
        (ValueError, r"output_layouts\[0\] of ffi_call is \(0, 1\), but must name each axis of flo",
         lambda: ffi_call("t", F32, output_layouts=(0, 1))),
        (ValueError, r"has \{1: 0\}, but there is no input 1: there are 1",
         lambda: ffi_call("t", F32, input_output_aliases={1: 0})(X)),
        (ValueError, r"input 0 is float64\[2\] and output 0 is float32\[2\]; both need one shape",
         lambda: ffi_call("t", F32, input_output_aliases={0: 0})(np.ones(2))),
        (TypeError, r"the attribute ffi_call\(a=…\) is a complex, but kernels take bool, int",
         lambda: ffi_call("t", F32)(X, a=1j)),
        (TypeError, r"the attribute ffi_call\(a=…\)\(b=…\) is a ndarray of dtype complex128",
         lambda: ffi_call("t", F32)(X, a={"b": np.ones(1, complex)})),
        (TypeError, "must fit into 64 signed bits", lambda: ffi_call("t", F32)(X, a=1 << 63)),
        (TypeError, "a value of type builtins.str is not a legal operand",
         lambda: ffi_call("t", F32)("x")),
        (TypeError, "needs a kernel, a function of NumPy, or both",
         lambda: register_ffi_target("t")),
        (TypeError, r"takes a capsule, but got .*; make one of a ctypes function with pycapsule",
         lambda: register_ffi_target("t", lambda x: x)),
        (TypeError, "there is no stage 'run'; the stages are 'instantiate', 'prepare'",
         lambda: register_ffi_target("t", {"run": pycapsule(_nothing())})),
        (TypeError, r"numpy= of register_ffi_target\('t'\) is 3, no function",
         lambda: register_ffi_target("t", numpy=3)),
        (TypeError, "register_ffi_type takes a dict with a capsule for 'type_id' as type_regist",
         lambda: register_ffi_type("t", np.ones(3))),
        (TypeError, r"NumPy rule of the kernel 'test.scaled' returned float32\[2\] as result 0, b",
         lambda: ffi_call("test.scaled", np.ones(3))(X)),
        (TypeError, "NumPy rule of the kernel 'test.scaled' returned 1 results, but ffi_call ann",
         lambda: ffi_call("test.scaled", [F32, F32])(X)),
    ],
)  # fmt: skip
def test_mistakes(error, message, call):
    with pytest.raises(error, match=message):
        call()


def _nothing():
    import ctypes

    return ctypes.pythonapi.Py_IsInitialized


def test_a_target_that_is_missing():
    call = ffi_call("test.scale", F32)
    compiles = find_backend().name != "numpy"
    if compiles:  # without a compiler the error is another one
        with pytest.raises(BackendError, match=r"no kernel 'test.scale' .* Did you mean 'test.sca"):
            call(X)
    with (
        config.override(backend="numpy"),
        pytest.raises(BackendError, match=r"numpy=\.\.\.") as caught,
    ):
        call(X)
    assert "is compiled code, and nothing that compiles is in use" in str(caught.value)
    register_ffi_target("test.elsewhere", pycapsule(_nothing()), platform="CUDA")
    if compiles:
        with pytest.raises(BackendError, match="It is registered for cuda alone"):
            jit(ffi_call("test.elsewhere", F32))(X)


def test_programs_have_a_text():
    bindax_text = pytest.importorskip("bindax_text", reason="the package is not installed")
    program = make_jaxpr(lambda x: ffi_call("test.scaled", F32)(x, by=np.float32(3)))(X)
    assert "attributes={by = 0x40400000 : f32}" in str(program)
    text = bindax_text.jaxpr_to_text(program)
    assert bindax_text.jaxpr_to_text(bindax_text.jaxpr_from_text(text)) == text


def test_registering_needs_no_compiler():
    script = (
        "import sys, numpy as np, bindax_ffi as ffi; from bindax_core import ShapeDtypeStruct\n"
        "ffi.register_ffi_target('a', numpy=np.negative)\n"
        "assert 'jaxlib' not in sys.modules\n"
        "sys.modules['jaxlib'] = None\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "y = ffi.ffi_call('a', ShapeDtypeStruct((2,), 'float32'))(np.ones(2, 'float32'))\n"
        "assert y.tolist() == [-1, -1]\n"
        "try: ffi.include_dir()\n"
        "except Exception as error: assert 'xla-backend' in str(error), error\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
