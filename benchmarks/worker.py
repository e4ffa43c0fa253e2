"""A lasting process that measures one library, and the loop that it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from benchmarks.measure import Sampler
from benchmarks.rows import Row


def serve(library: str, rows: Mapping[str, Row]) -> None:
    """Answer each name of a row on the standard input with one sample of it."""
    package = import_module(library)
    samplers: dict[str, Sampler] = {}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        name = line.rstrip("\n")
        try:
            if name not in samplers:
                samplers.clear()  # of one row at a time
                samplers[name] = rows[name].sampler(package)
            answer = repr(samplers[name]())
        except Exception as error:
            answer = f"{type(error).__name__}: {error}".partition("\n")[0]
        print(answer, file=answers, flush=True)


class Worker:
    """A lasting process that measures one library."""

    def __init__(self, library: str, core: int | None, path: str = "") -> None:
        command = [sys.executable, "-m", "benchmarks.alternating", "--serve", library]
        environment = os.environ | {"JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"}
        if path:
            environment["PYTHONPATH"] = os.pathsep.join([path, environment.get("PYTHONPATH", "")])
        if core is not None:
            command = ["taskset", "-c", str(core), *command]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def burst(self, name: str) -> float:
        """One sample of a row: the seconds of one execution, averaged over a burst, or bytes."""
        streams: Any = self.process
        print(name, file=streams.stdin, flush=True)
        answer = streams.stdout.readline()
        try:
            return float(answer)
        except ValueError:
            raise RuntimeError(answer.strip() or "the process has ended") from None

    def close(self) -> None:
        """Let the process end."""
        self.process.communicate()
