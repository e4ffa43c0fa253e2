"""Kernels in C++, compiled here: what they are given, and errors for calls that do not fit."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bindax_core import ShapeDtypeStruct
from bindax_core.errors import BackendError
from bindax_core.extend import find_backend, primitive, rules
from bindax_ffi import ffi_call, ffi_lowering, include_dir, pycapsule, register_ffi_target
from bindax_transforms import jit, vmap

COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("clang++")

X = np.arange(6, dtype=np.float32)
F32 = ShapeDtypeStruct((6,), np.float32)
COUNT = ShapeDtypeStruct((), np.int64)


READ = """
import ctypes, sys
import numpy as np
from bindax_core.errors import BackendError
from bindax_export import deserialize
from bindax_ffi import pycapsule, register_ffi_target

with open(sys.argv[1], "rb") as file:
    read = deserialize(file.read())
try:
    read.call(np.ones(6, np.float32), np.ones(6, np.float32))
except BackendError as error:
    print(error)
library = ctypes.CDLL(sys.argv[2])
register_ffi_target("test.Axpy", pycapsule(library.AxpyHandler))
print(read.call(np.ones(6, np.float32), np.ones(6, np.float32)).tolist())
"""
"""What a process does that has an exported program, and at first no kernel."""


@pytest.fixture(scope="session")  # XLA keeps a kernel for the life of the process
def library(tmp_path_factory):
    if find_backend().name == "numpy":
        pytest.skip("kernels run in compiled programs, and nothing compiles here")
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    path = tmp_path_factory.mktemp("kernels") / "kernels.so"
    source = Path(__file__).with_name("kernels.cc")
    flags = ["-w", "-O0", "-std=c++17", "-fPIC", "-shared", f"-I{include_dir()}"]
    subprocess.run([COMPILER, *flags, str(source), "-o", str(path)], check=True)
    library = ctypes.CDLL(str(path))
    for name in ("Axpy", "Bytes", "Attributes"):
        register_ffi_target(f"test.{name}", pycapsule(getattr(library, f"{name}Handler")))
    return library


@pytest.mark.parametrize("stage", [lambda f: f, jit], ids=["eager", "jit"])
@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled"])
def test_a_kernel(library, stage, method):
    def f(x, y):
        return ffi_call("test.Axpy", F32, vmap_method=method)(x, y, a=np.float32(2))

    np.testing.assert_array_equal(stage(f)(X, X + 1), 3 * X + 1)
    xs = np.stack([X, -X])
    np.testing.assert_array_equal(stage(vmap(f, in_axes=(0, None)))(xs, X), 2 * xs + X)


def test_attributes_arrive(library):
    given = {"n": -3, "x": 0.1, "flag": True, "name": 'é"\n', "list": np.array([4, 5], "int32")}
    call = ffi_call("test.Attributes", ShapeDtypeStruct((6,), np.float64))
    assert call(**given, nested={"inner": np.uint8(7)}).tolist() == [-3.0, 0.1, 1.0, 4.0, 5.0, 7.0]


def test_layouts_order_the_memory(library):
    x = X.reshape(2, 3)
    kinds = (ShapeDtypeStruct((2, 3), np.float32), COUNT)
    for layout, expected in ((None, x), ((0, 1), x), ((1, 0), x.T.reshape(2, 3))):
        options = {"input_layouts": [layout], "vmap_method": "broadcast_all"}
        np.testing.assert_array_equal(ffi_call("test.Bytes", kinds, **options)(x)[0], expected)
    options = {"input_layouts": [(1, 0)], "output_layouts": [(1, 0), ()]}
    np.testing.assert_array_equal(ffi_call("test.Bytes", kinds, **options)(x)[0], x)
    counts = (kinds[0], ShapeDtypeStruct((), np.int64))
    batched = vmap(ffi_call("test.Bytes", counts, **options, vmap_method="expand_dims"))
    np.testing.assert_array_equal(jit(batched)(x[None])[0], x[None])


def test_a_result_in_the_place_of_an_argument(library):
    call = ffi_call("test.Bytes", (F32, COUNT), input_output_aliases={0: 0})
    compiled = jit(lambda x: call(x + 1)[0])
    np.testing.assert_array_equal(compiled(X), X + 1)
    text = compiled.lower(X).as_text()
    assert "output_tuple_indices = [0]" in text
    np.testing.assert_array_equal(call(X)[0], X)
    np.testing.assert_array_equal(X, np.arange(6))


def test_side_effects_happen_though_nobody_looks(library):
    def count():
        return int(ffi_call("test.Bytes", (F32, COUNT), has_side_effect=True)(X)[1])

    @jit
    def f(x, flags):
        for flag in flags:
            ffi_call("test.Bytes", (F32, COUNT), has_side_effect=flag)(x)
        return x

    f(X, ()).block_until_ready()
    before = count()
    jit(lambda x: f.__wrapped__(x, (True, False, True)))(X).block_until_ready()
    assert count() == before + 3


@pytest.mark.parametrize(
    ("kind", "arguments", "attributes", "message"),
    [
        (F32, (X,), {"a": np.float32(1)}, "Wrong number of arguments"),
        (F32, (X, X), {}, "Wrong number of attributes"),
        (F32, (X, X), {"a": 1.0}, "Wrong scalar data type: expected F32 but got F64"),
        (F32, (X, X), {"b": np.float32(1)}, "Attribute name mismatch: b vs a"),
        (F32, (X, X.astype("int32")), {"a": np.float32(1)}, "Wrong buffer dtype"),
        (F32, (X, X.reshape(2, 3)), {"a": np.float32(1)}, "Wrong buffer rank"),
        ((F32, F32), (X, X), {"a": np.float32(1)}, "Wrong number of results"),
    ],
)
def test_another_signature_is_an_error(library, kind, arguments, attributes, message):
    with pytest.raises(BackendError, match=message) as caught:
        [np.asarray(y) for y in ffi_call("test.Axpy", kind)(*arguments, **attributes)]
    assert "test.Axpy" in str(caught.value)


def test_a_name_that_is_taken(library):
    register_ffi_target("test.Axpy", pycapsule(library.AxpyHandler))
    ffi_call("test.Axpy", F32)(X, X, a=np.float32(1))
    with pytest.raises(ValueError, match=r"'test.Axpy' is taken on cpu by another kernel"):
        register_ffi_target("test.Axpy", pycapsule(library.BytesHandler))


def test_a_primitive_of_its_own(library):
    axpy_p = primitive(
        "test.axpy",
        rules.impl.absent("the kernel alone computes it"),
        rules.abstract_eval(lambda x, y, *, a: x),
        rules.jvp.absent("not needed here"),
        rules.vmap.absent("not needed here"),
        rules.transpose.absent("not needed here"),
        rules.lowering["stablehlo"](ffi_lowering("test.Axpy")),
    )
    np.testing.assert_array_equal(axpy_p.bind(X, X, a=np.float32(3)), 4 * X)


def test_targets_of_xla_itself_need_no_registration(library):
    kinds = (ShapeDtypeStruct((2, 2), np.float32), ShapeDtypeStruct((), np.int32))
    x = np.array([[4.0, 0.0], [2.0, 5.0]], np.float32)
    call = ffi_call("lapack_spotrf_ffi", kinds, input_layouts=[(1, 0)], output_layouts=[(1, 0), ()])
    np.testing.assert_allclose(np.tril(call(x, uplo=np.uint8(ord("L")))[0]), [[2, 0], [1, 2]])


def test_the_same_kernel_in_jax(library):
    jax = pytest.importorskip("jax")
    jax.ffi.register_ffi_target("test.InJax", jax.ffi.pycapsule(library.AxpyHandler), "cpu")
    kind = jax.ShapeDtypeStruct((6,), np.float32)
    theirs = jax.ffi.ffi_call("test.InJax", kind)(X, X, a=np.float32(2))
    # XLA knows the target, whoever registered it.
    np.testing.assert_array_equal(ffi_call("test.InJax", F32)(X, X, a=np.float32(2)), theirs)


def test_an_exported_program_in_a_process_without_the_kernel(library, tmp_path):
    export = pytest.importorskip("bindax_export")
    program = jit(lambda x, y: ffi_call("test.Axpy", F32)(x, y, a=np.float32(2)) + 1)
    allowed = [export.DisabledSafetyCheck.custom_call("test.Axpy")]
    exported = export.export(program, disabled_checks=allowed)(F32, F32)
    path = tmp_path / "program"
    path.write_bytes(exported.serialize())
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path), library._name],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    *refused, last = done.stdout.splitlines()
    assert "calls the kernel 'test.Axpy', which nobody registered in this process" in refused[-1]
    assert last == str([4.0] * 6)
