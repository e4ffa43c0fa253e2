"""Without IREE nothing changes but what the backend says; targets, flags and texts need none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import bindax
from bindax import export
from bindax._cli import main
from bindax.extend import BackendError, find_backend
from bindax_iree import TARGETS, InstallationError, deploy, example_program
from bindax_iree._errors import compilation_error
from bindax_iree._linalg import Tensor, broadcast, dot_general, reshape
from bindax_iree._targets import HOST, processor_flags, target_of_driver


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "iree"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "iree", None)


@pytest.fixture
def exported() -> export.Exported:
    (batch,) = export.symbolic_shape("batch")
    shape = bindax.ShapeDtypeStruct((batch, 4), np.float32)
    return export.export(bindax.jit(lambda x, unused: (x * 2, x.sum())))(shape, np.float32(1))


def test_it_is_a_backend_that_nobody_gets_unasked() -> None:
    assert find_backend("iree").priority < find_backend("numpy").priority
    assert bindax.default_backend() != "iree"


def test_use_without_the_compiler_says_what_to_install(absent: None) -> None:
    with pytest.raises(InstallationError, match=r"needs iree-base-(compiler|runtime), which") as e:
        bindax.jit(lambda x: x + 1, backend="iree")(np.float32(1))
    assert "pip install 'bindax-iree[" in str(e.value)


def test_deploy_without_the_compiler_says_what_to_install(
    absent: None, exported: export.Exported
) -> None:
    with pytest.raises(InstallationError, match=r"pip install 'bindax-iree\[compiler\]'"):
        deploy(exported, "x86-64")


def test_unknown_targets_are_named(exported: export.Exported) -> None:
    with pytest.raises(ValueError, match=r"no target 'arm'; there are x86-64, aarch64, riscv64"):
        deploy(exported, "arm")
    with pytest.raises(ValueError, match="the target vmvx has no kinds of processors"):
        deploy(exported, "vmvx", processor="fast")


def test_programs_for_several_platforms_are_refused() -> None:
    several = export.export(bindax.jit(lambda x: x), platforms=["cpu", "cuda"])(np.float32(1))
    with pytest.raises(BackendError, match="1 devices and the platforms cpu, cuda; export it for"):
        deploy(several, "x86-64")


@pytest.mark.parametrize("name", ["local-task", "local-sync"])
def test_drivers_of_the_processor_compile_for_this_machine(name: str) -> None:
    assert target_of_driver(name) is HOST


def test_drivers_of_devices_have_targets() -> None:
    assert target_of_driver("hip") is TARGETS["rocm"]
    assert target_of_driver("webgpu").flags == ("--iree-hal-target-device=webgpu",)
    assert processor_flags(TARGETS["cuda"], "sm_90") == ["--iree-cuda-target=sm_90"]
    assert processor_flags(TARGETS["cuda"], None) == []
    assert processor_flags(TARGETS["rocm"], None) == ["--iree-rocm-target=gfx942"]


@pytest.mark.parametrize(("setting", "value"), [("iree_driver", ""), ("iree_flags", "O3")])
def test_settings_are_checked(setting: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"config.{setting} must be"):
        bindax.config.override(**{setting: value}).__enter__()


def test_the_example_is_a_program_of_at_most_ten_lines(exported: export.Exported) -> None:
    text = example_program(exported, "cuda", "a.vmfb")
    compile(text, "example", "exec")
    assert len(text.splitlines()) <= 10
    assert "runtime.Config('cuda')" in text
    assert "np.zeros((1, 4), 'float32'), np.zeros((), 'float32'))" in text
    assert "# float32[batch,4], float32[]" in text


def test_the_error_names_the_primitive_that_is_behind_a_diagnostic() -> None:
    text = (
        "a.py:7:0: error: failed to legalize operation 'stablehlo.fft' that was explicitly marked "
        'illegal loc("jit(f)/while/body/fft"("f"("a.py":7:0)))\nmore'
    )
    error = compilation_error("f", "cuda", text)
    assert str(error) == (
        "the backend 'iree' cannot compile the primitive fft in f for cuda: failed to legalize "
        "operation 'stablehlo.fft' that was explicitly marked illegal. Write it without that "
        "operation."
    )
    assert str(compilation_error("f", "host", text)).endswith(
        'Write it without that operation, or compile it with jit(..., backend="xla").'
    )
    crashed = compilation_error("f", "cuda", "Error code: -6\nDiagnostics:\nstack of calls")
    ending = "its compiler ended with the exit code -6 and printed no error."
    assert f"compile f for cuda: {ending}" in str(crashed)
    of_two = compilation_error("f", "cuda", "error: undefined symbol: sin", ["mul", "sin"])
    assert "compile f, which is made of mul, sin, for cuda: undefined symbol: sin." in str(of_two)
    many = [*(f"p{i}" for i in range(20)), "scan", "fft"]
    of_many = compilation_error("f", "cuda", "error: no i128", many)
    assert "compile f, which is made of scan, fft, others, for cuda: no i128." in str(of_many)


def test_functions_for_unknown_sizes() -> None:
    x, out = Tensor(("?", "1"), "f32"), Tensor(("?", "8"), "f32")
    sizes = Tensor(("2",), "i64")
    assert "tensor.reshape %0(%1) : (tensor<?x1xf32>, tensor<2xi64>)" in reshape(x, sizes, out)
    text = broadcast(x, sizes, out, [0, 1])
    assert "affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>" in text
    assert "tensor.empty(%n0) : tensor<?x8xf32>" in text


@pytest.mark.parametrize(
    ("elements", "found"),
    [
        (("f32", "f32", "f32"), "arith.mulf %a, %b : f32"),
        (("bf16", "bf16", "f32"), "arith.extf %a : bf16 to f32"),
        (("i32", "i32", "i32"), "arith.addi"),
        (("complex<f32>", "complex<f32>", "complex<f32>"), "complex.mul"),
        (("f32", "f64", "f64"), None),
    ],
)
def test_contractions_of_unknown_sizes(elements: tuple[str, ...], found: str | None) -> None:
    shapes = [("?", "3", "4"), ("?", "4", "5"), ("?", "3", "5")]
    x, y, out = (Tensor(sizes, element) for sizes, element in zip(shapes, elements, strict=True))
    text = dot_general(x, y, out, ([0], [0]), ([2], [1]))
    if found is None:
        assert text is None
        return
    assert text is not None
    assert found in text
    # The batch is dimension 0, the sum runs over dimension 1.
    assert '["parallel", "reduction", "parallel", "parallel"]' in text
    assert "(d0, d2, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>" in text


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(main, ["deploy", *map(str, arguments)])


def test_the_command_says_what_is_wrong(
    tmp_path: Path, exported: export.Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, output = tmp_path / "f.export", tmp_path / "f.vmfb"
    program.write_bytes(exported.serialize())
    ran = run(program, "--target", "toaster", "--output", output)
    assert ran.exit_code == 2
    assert "there is no target 'toaster'" in ran.output
    (tmp_path / "bad.export").write_bytes(b"nothing")
    ran = run(tmp_path / "bad.export", "--target", "cuda", "--output", output)
    assert ran.exit_code == 2
    monkeypatch.setitem(sys.modules, "bindax_iree", None)
    ran = run(program, "--target", "cuda", "--output", output)
    assert ran.exit_code == 2
    assert "needs the package bindax-iree: pip install 'bindax[iree]'" in ran.output
    assert not output.exists()
