"""The errors of programs and operations that there is no memory for."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax.errors import OutOfMemoryError
from bindax_core.arrays import _origins
from bindax_core.arrays._origins import origin_of
from bindax_core.extend import describe_live_arrays, find_backend

pytest.importorskip("jaxlib", reason="programs are compiled")
from bindax_xla_backend import _jaxlib
from bindax_xla_backend.execution.program_values import largest_values
from bindax_xla_backend.extend import ExecutionError

SIDE = 10**7  # a matrix of 400 TB, more than a process can address
ADVICE = (
    "Less memory is needed with donate_argnums for arguments that are not used again, with "
    "bindax.checkpoint around what a gradient keeps, with smaller batches or types; "
    "bindax.inspect(f)(...) shows the memory of f by line."
)


def square(x: Any) -> Any:
    y = jnp.sin(x * jnp.ones((2 * SIDE, 2 * SIDE), np.float32))
    return y @ y


def line_of(function: Any, number: int) -> str:
    return re.escape(f"{__file__}:{function.__code__.co_firstlineno + number}")


def test_a_result() -> None:
    kept = jnp.arange(250_000, dtype=np.float32)
    f = bindax.jit(lambda x: x + jnp.zeros((SIDE, SIDE), np.float32))
    with pytest.raises(OutOfMemoryError) as caught:
        f(np.float32(1.0)).block_until_ready()
    lines = str(caught.value).splitlines()
    assert isinstance(caught.value, ExecutionError | MemoryError)
    assert "RESOURCE_EXHAUSTED: Out of memory allocating 400000000000000 bytes." in lines[0]
    text = "\n".join(lines)
    assert "<lambda> needs 0 bytes for temporaries, 400.0 TB for results, 4 bytes" in text
    line = line_of(test_a_result, 2)
    assert re.search(rf"\n  float32\[10000000,10000000\]: 400\.0 TB, \S+ at {line}\n", text)
    assert re.search(r"\nLive arrays, with those that are being computed, take \d", text)
    assert lines[-1] == ADVICE
    assert kept.shape == (250_000,)


def test_temporaries_of_a_program_that_was_started_before() -> None:
    with pytest.raises(OutOfMemoryError) as caught:
        bindax.jit(square)(np.float32(1.0)).block_until_ready()
    text = str(caught.value)
    assert re.search(r"square needs \d\.\d PB for temporaries, 1\.6 PB for results, ", text)
    for number in (1, 2):
        line = line_of(square, number)
        assert re.search(rf"\n  float32\[20000000,20000000\]: 1\.6 PB, .*{line}\n", text)


def test_the_program_is_found_by_its_size() -> None:
    xla: Any = find_backend("xla")

    def wide(x: Any) -> Any:
        return x + jnp.zeros((SIDE, SIDE, 2), np.float32)

    compiled = bindax.jit(wide).lower(np.float32(1.0)).compile()
    error = _jaxlib.RuntimeFailure("RESOURCE_EXHAUSTED: Out of memory allocating 800000000000000 b")
    assert "needs" not in str(xla._failure(error, "it failed"))  # no number with a unit
    full = f"{error}ytes."
    failure = xla._failure(_jaxlib.RuntimeFailure(full), "it failed")
    first, second, third, *_ = str(failure).splitlines()
    assert first == f"it failed: {full}"
    assert second == "The program is wide, by the size of what it allocates."
    assert third.startswith("wide needs ")
    assert compiled is not None


def test_small_programs_are_not_taken_for_one_that_failed() -> None:
    """Many need as few bytes, so that the size tells nothing."""
    xla: Any = find_backend("xla")
    compiled = bindax.jit(lambda x: x + np.int8(1)).lower(np.zeros(3, np.int8)).compile()
    small = _jaxlib.RuntimeFailure("RESOURCE_EXHAUSTED: out of memory allocating 3 bytes.")
    assert "The program is" not in str(xla._failure(small, "it failed"))
    assert compiled is not None


def test_a_copy_to_a_device() -> None:
    class Full:
        def put(self, array: Any, copy: bool) -> Any:
            raise _jaxlib.RuntimeFailure("RESOURCE_EXHAUSTED: Out of memory allocating 12 bytes.")

        def __repr__(self) -> str:
            return "GpuDevice(id=0)"

    xla: Any = find_backend("xla")
    with pytest.raises(OutOfMemoryError, match=r"^a copy of float32\[3\] to GpuDevice\(id=0\) fa"):
        xla.put(np.ones(3, np.float32), device=Full())


def test_other_failures_are_told_as_before() -> None:
    xla: Any = find_backend("xla")
    failure = xla._failure(_jaxlib.RuntimeFailure("INTERNAL: no"), "it failed")
    assert (type(failure), str(failure)) == (ExecutionError, "it failed: INTERNAL: no")


def test_an_operation_that_numpy_evaluates() -> None:
    x, kept = jnp.zeros((SIDE, SIDE), np.float32), jnp.arange(250_000)
    with pytest.raises(MemoryError) as caught:
        x + 1
    assert kept.size == 250_000
    (note,) = caught.value.__notes__
    first, second, *_, last = note.splitlines()
    assert first == "There was no memory for add, which gives float32[10000000,10000000]."
    assert second.startswith("Live arrays, with those that are being computed, take ")
    assert "10000000]: 4 bytes" not in note  # a view of one element takes as good as none
    assert last == (
        "Delete what is not needed; under jit temporary arrays are left out, and "
        "bindax.inspect(f)(...) shows the memory of a program by line."
    )


def test_live_arrays_of_one_type_share_a_line() -> None:
    kept = [np.ones(2_000_003, np.float32) + i for i in range(3)]
    arrays = [bindax.numpy.asarray(x) for x in kept]
    assert "\n  3 x float32[2000003]: 8.0 MB each, made at " in describe_live_arrays("numpy")
    assert len(arrays) == 3
    nothing = "Live arrays, with those that are being computed, take 0 bytes."
    assert describe_live_arrays("no such backend") == nothing


def test_large_live_arrays_have_the_lines_that_made_them() -> None:
    gc.collect()  # what failed before, which is far larger
    n = 1_000_033
    compiled = bindax.jit(lambda x: x * np.ones(n, np.float32))
    with bindax.named_scope("encoder"):
        made = [compiled(np.float32(2.0)) for _ in range(2)]
        summed = made[0] + made[1]
        moved = bindax.device_put(np.ones((n, 2), np.float32))
    listed = describe_live_arrays()
    first = test_large_live_arrays_have_the_lines_that_made_them.__code__.co_firstlineno
    for times, name, size, line in (
        ("2 x ", "float32[1000033]", "4.0 MB each", 5),
        ("", "float32[1000033]", "4.0 MB", 6),
        ("", "float32[1000033,2]", "8.0 MB", 7),
    ):
        start, end = re.escape(f"  {times}{name}"), re.escape(f"{size}, made at {__file__}:")
        assert re.search(rf"{start}( on xla)?: {end}{first + line} .*, scope encoder", listed), (
            listed
        )
    small = bindax.numpy.ones(3, np.float32)
    assert [origin_of(x) is None for x in (*made, summed, moved, small)] == [False] * 4 + [True]
    count = len(_origins._origins)
    del made, summed, moved
    assert len(_origins._origins) == count - 4


HLO = """HloModule jit_f, is_scheduled=true

FileNames
1 "/a/model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=0 end_column=0}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


%fused_computation (p: f32[8]) -> f32[1000] {
  %p = f32[8]{0} parameter(0)
  ROOT %big = f32[1000]{0} broadcast(%p), dimensions={0}
}

%body (arg: (s32[], f32[16])) -> (s32[], f32[16]) {
  %arg = (s32[], f32[16]{0}) parameter(0)
  %x = f32[16]{0} get-tuple-element(%arg), index=1
  %y = bf16[16]{0} sine(%x), metadata={op_name="f/sin" source_file="b.py" source_line=3}
  ROOT %t = (s32[], f32[16]{0}) tuple(%y)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %w = (s32[], f32[16]{0}) while(%a), condition=%cond, body=%body
  %s = (f32[8]{0}, pred[8]{0}) sort(%a), dimensions={0}, to_apply=%compare
  ROOT %f = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused_computation, metadata={stack_frame_id=1}
}
"""


def test_the_largest_values_are_read_from_a_program() -> None:
    assert [tuple(value) for value in largest_values(HLO)] == [
        (40, "float32[8], bool[8]", "", ""),
        (32, "bfloat16[16]", "f/sin", "b.py:3"),
        (32, "float32[8]", "", "/a/model.py:7"),
    ]
    assert largest_values("") == []


LIMITED = """
import resource
import numpy as np, bindax, bindax.numpy as jnp
f = bindax.jit(lambda x: jnp.sin(jnp.outer(x, x)) @ jnp.outer(x, x))
f(np.ones(3, np.float32)).block_until_ready()
f.lower(np.ones(30_000, np.float32)).compile()
resource.setrlimit(resource.RLIMIT_AS, (10 * 2**30, 10 * 2**30))
try:
    y = f(np.ones(60_000, np.float32)).block_until_ready()
except bindax.errors.OutOfMemoryError as error:
    print(error)
"""


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
def test_a_process_with_little_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True, timeout=120
    )
    assert "RESOURCE_EXHAUSTED" in done.stdout
    assert "<lambda> needs " in done.stdout
    assert "float32[60000,60000]" in done.stdout
