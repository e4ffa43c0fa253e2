"""Search the best mesh of a transformer's training step, on 8 to 4,096 devices that do not exist.

    uv run python scripts/mesh_scaling.py          # takes about ten minutes
    uv run python scripts/mesh_scaling.py 8 16     # these numbers of devices alone

The record is ``mesh_scaling.json`` beside it, which ``mesh_scaling_page.py`` makes a table and
a picture of.
"""

from __future__ import annotations

import functools
import json
import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bindax
from bindax.sharding import AbstractMesh

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "scripts/mesh_scaling.json"
DEVICES = tuple(2**i for i in range(3, 13))
PROGRAM = ROOT / "examples/distributed/transformer.py"


@functools.cache
def program() -> dict[str, Any]:
    """Return the names of the program that is inspected."""
    return runpy.run_path(str(PROGRAM))


def meshes(devices: int) -> Iterator[tuple[int, int]]:
    """Yield the sizes of both axes of each mesh that divides the step evenly."""
    for model in (1, 2, 4, 8, 16):
        data = devices // model
        if program()["HEADS"] % model == 0 and data >= 1 and program()["SEQUENCES"] % data == 0:
            yield data, model


def report(data: int, model: int) -> dict[str, Any]:
    """Return what is recorded of the step on one mesh."""
    mesh, known = AbstractMesh((data, model), ("data", "model")), program()
    inspected = bindax.inspect_mesh(known["step"], mesh, known["state_specs"], known["tokens_spec"])
    found = inspected(known["state"], known["tokens"])
    if found.missing:
        raise SystemExit(f"{data} x {model}: {found.missing}")
    return {
        "data": data,
        "model": model,
        "device": found.device.name,
        "bytes": found.memory.total,
        "fits": found.fits,
        "operations": found.operations,
        "sent": found.sent,
        "seconds": found.bound._asdict(),
    }


def main(arguments: Sequence[str]) -> None:
    """Write the record of the numbers of devices that are asked for, by default all."""
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else []
    wanted = [int(one) for one in arguments] or DEVICES
    kept = [one for one in known if one["data"] * one["model"] not in wanted]
    for devices in wanted:
        for data, model in meshes(devices):
            kept.append(report(data, model))
            print(json.dumps(kept[-1]), flush=True)
    kept.sort(key=lambda one: (one["data"] * one["model"], one["model"]))
    lines = ",\n".join(json.dumps(one) for one in kept)
    RECORD.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
