"""Ahead-of-time compilation, and calls of compiled programs with operands of other types."""

from __future__ import annotations

import numpy as np
import pytest

from bindax_core import ShapedArray
from bindax_transforms import jit, make_jaxpr
from bindax_xla_backend.extend import ArgumentError

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
