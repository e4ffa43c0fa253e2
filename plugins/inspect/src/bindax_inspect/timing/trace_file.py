"""Traces that Perfetto opens: the run of each instruction, with the line that it comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bindax_inspect.compiled.hlo import Module
from bindax_inspect.program.equations import Program
from bindax_inspect.timing.measurement import Time


def write_trace(path: Path, program: Program, module: Module, time: Time) -> None:
    """Write the runs of instructions in the JSON format of trace events.

    Args:
        path: the file.
        program: the program.
        module: its optimized form.
        time: what was measured.
    """
    threads = {name: i for i, name in enumerate(dict.fromkeys(e.thread for e in time.events))}
    instructions = {one.name: one for one in module.instructions()}
    first = min((event.start for event in time.events), default=0.0)
    events: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": program.name}},
        *(
            {"name": "thread_name", "ph": "M", "pid": 1, "tid": tid, "args": {"name": name}}
            for name, tid in threads.items()
        ),
    ]
    for event in time.events:
        one = instructions.get(event.instruction)
        events.append(
            {
                "name": event.instruction,
                "cat": one.opcode if one else "",
                "ph": "X",
                "pid": 1,
                "tid": threads[event.thread],
                "ts": (event.start - first) / 1e3,
                "dur": event.duration / 1e3,
                "args": _origin(program, one.equations if one else []),
            }
        )
    path.write_text(json.dumps({"displayTimeUnit": "ms", "traceEvents": events}), encoding="utf-8")


def _origin(program: Program, numbers: list[int]) -> dict[str, Any]:
    """The lines, names and primitives of the equations that an instruction computes."""
    found = [program.equations[number] for number in numbers]
    return {
        "lines": [str(line) for line in dict.fromkeys(one.origin.line for one in found)],
        "names": [name for name in dict.fromkeys(one.origin.names for one in found) if name],
        "equations": [f"{one.number}: {one.eqn.primitive.name}" for one in found],
    }
