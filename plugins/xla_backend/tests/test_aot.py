"""Ahead-of-time compilation, and calls of compiled programs with operands of other types."""

from __future__ import annotations

import numpy as np
import pytest

from bindax_core import ShapedArray
from bindax_core.errors import BackendError
from bindax_transforms import jit, make_jaxpr
from bindax_xla_backend.extend import ArgumentError, CompilationError

pytestmark = pytest.mark.smoke


@pytest.fixture
def compiled(ops, backend):
    return backend.compile(make_jaxpr(ops.sin)(ShapedArray((3,), np.float32)), name="f")


def test_stages(ops):
    lowered = jit(ops.sin).lower(np.ones(3, np.float32))
    assert "stablehlo.sine" in lowered.as_text()
    program = lowered.compile()
    assert program.as_text().startswith("HloModule jit_")
    assert program.cost_analysis()["transcendentals"] == 3.0
    memory = program.memory_analysis()
    assert memory["argument_size_in_bytes"] == memory["output_size_in_bytes"] == 12
    np.testing.assert_allclose(program(np.ones(3, np.float32)), np.sin(np.ones(3)), rtol=1e-6)


def test_types_of_a_lowered_program(ops, backend):
    aval = ShapedArray((3,), np.float32)
    lowered = backend.lower(make_jaxpr(ops.sin)(aval), name="f")
    assert (lowered.name, lowered.in_avals, lowered.out_avals) == ("f", (aval,), (aval,))
    assert repr(lowered) == "Lowered(f)"
    assert lowered.bytecode().startswith(b"ML\xefR")
    assert repr(lowered.compile()) == "Executable(f: (float32[3]) -> (float32[3]))"


@pytest.mark.parametrize(
    ("operand", "given"),
    [
        (np.ones(3), r"float64\[3\]"),
        (np.ones(4, np.float32), r"float32\[4\]"),
        (np.ones(3, np.int32), r"int32\[3\]"),  # of the same size: XLA would not notice
        (1.0, r"float64\[\]"),
    ],
)
def test_operands_of_other_types(compiled, operand, given):
    with pytest.raises(ArgumentError, match=rf"operand 0 .* is {given}, but it was compiled for"):
        compiled(operand)


def test_wrong_number_of_operands(compiled):
    with pytest.raises(ArgumentError, match="takes 1 operands, but got 2"):
        compiled(np.ones(3, np.float32), 1.0)


def test_traced_operand(compiled):
    with pytest.raises(ArgumentError, match="is a traced value"):
        jit(lambda x: compiled(x)[0])(np.ones(3, np.float32))


def test_python_scalars_take_the_type_of_the_program(ops, backend):
    run = backend.compile(make_jaxpr(ops.sin)(ShapedArray((), np.float32)), name="f")
    assert run(1)[0].dtype == np.float32
    assert float(run(1.0)[0]) == pytest.approx(np.sin(1.0))
    with pytest.raises(ArgumentError, match=r"is complex128\[\]"):
        run(1j)


@pytest.fixture
def product(ops):
    """A function of a tree, a static number and a donated array, traced."""
    function = jit(
        lambda p, n, y: {"a": ops.mul(p["w"], ops.sin(y)) if n else y},
        static_argnums=1,
        donate_argnums=2,
    )
    return function.trace({"w": np.ones(3, np.float32)}, 1, np.ones(3, np.float32))


def test_every_stage_knows_the_types(product):
    lowered = product.lower()
    compiled = lowered.compile()
    for stage in (product, lowered, compiled):
        assert (stage.fun_name, stage.donate_argnums) == ("<lambda>", (1,))
        (p, y), kwargs = stage.args_info
        assert (p["w"].shape, p["w"].dtype, p["w"].donated, y.donated) == (
            (3,),
            np.float32,
            False,
            True,
        )
        assert kwargs == {}
        assert stage.out_info == stage.out_avals == {"a": ShapedArray((3,), np.float32)}
        assert stage.in_avals[0][1] == ShapedArray((3,), np.float32)
        assert str(stage.in_tree) == "PyTreeDef((({'w': *}, *), {}))"
        assert str(stage.out_tree) == "PyTreeDef({'a': *})"
    assert [eqn.primitive.name for eqn in product.jaxpr.eqns] == ["xla_test.sin", "xla_test.mul"]
    assert repr(compiled) == "Compiled(<lambda>: (float32[3], float32[3]))"


def test_what_a_compiled_program_tells(product):
    compiled = product.lower().compile()
    (weights, x), _ = compiled.input_formats
    for one in (weights["w"], x, compiled.output_formats["a"]):
        assert one.layout.major_to_minor == (0,)
    assert "SingleDevice" in str(compiled.output_shardings["a"])
    assert "SingleDevice" in str(compiled.input_shardings[0][1])
    assert hasattr(compiled.runtime_executable(), "execute_sharded")


def test_dialects(product):
    lowered = product.lower(lowering_platforms=("cpu",))
    assert lowered.as_text() == lowered.as_text("stablehlo")
    assert lowered.as_text("hlo").startswith("HloModule jit__lambda_")
    assert "test_aot.py" in lowered.as_text(debug_info=True)
    assert "func.func" in str(lowered.compiler_ir())
    assert "HloModule" in lowered.compiler_ir("hlo").as_hlo_text()
    assert lowered.cost_analysis()["transcendentals"] == 3.0
    with pytest.raises(ValueError, match="no program in the dialect 'llvm'"):
        lowered.as_text("llvm")


def test_lowering_for_a_platform_that_is_not_there(product):
    lowered = product.lower(lowering_platforms=("tpu",))
    assert lowered.as_text() == product.lower().as_text()
    assert lowered.out_info == product.out_info
    with pytest.raises(BackendError, match=r"lowered for the platform 'tpu'.* are of 'cpu'"):
        lowered.compile()
    with pytest.raises(BackendError, match=r"lowers for one platform.*export"):
        product.lower(lowering_platforms=("tpu", "cpu"))


def test_compiler_options(ops, product):
    x = np.ones(3, np.float32)
    compiled = product.lower().compile({"xla_cpu_enable_fast_math": True})
    np.testing.assert_allclose(compiled({"w": x}, x.copy())["a"], np.sin(x), rtol=1e-6)
    fast = jit(ops.sin, compiler_options={"xla_cpu_enable_fast_math": True})
    np.testing.assert_allclose(fast(x), np.sin(x), rtol=1e-6)
    with pytest.raises(CompilationError, match="No such compile option: 'nonsense'"):
        jit(ops.sin, compiler_options={"nonsense": 1})(x)
    with pytest.raises(ValueError, match=r"with compiler_options=.*give its jit the options"):
        jit(lambda x: fast(x))(x)
    interpreted = jit(ops.sin, backend="numpy").lower(x)
    with pytest.raises(BackendError, match="it interprets the program"):
        interpreted.compile({"nonsense": 1})
    with pytest.raises(BackendError, match="it interprets the program"):
        interpreted.as_text("hlo")


_W = {"w": np.ones(3, np.float32)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (_W, np.ones(4, np.float32)),
            r"'args\[1\]' compiled with .* and called with float32\[4\]",
        ),
        ((_W, 1, np.ones(3, np.float32)), "but for static ones"),
        ((_W, ShapedArray((3,), np.float32)), "types in place of arrays"),
    ],
)
def test_calls_that_do_not_fit(product, arguments, message):
    with pytest.raises(TypeError, match=message):
        product.lower().compile()(*arguments)


def test_numbers_of_a_call_yield_to_the_compiled_types(ops):
    double = jit(lambda x: ops.add(x, x))
    for lowered in (double.lower(np.float32(1)), double.lower(1.0)):
        compiled = lowered.compile()
        for x in (3.0, np.float32(3.0)):
            found = compiled(x)
            assert float(found) == 6.0
            assert found.dtype == lowered.out_info.dtype
        with pytest.raises(
            TypeError, match=r"Argument 'x' compiled with .* and called with int64\[\]"
        ):
            compiled(3)
