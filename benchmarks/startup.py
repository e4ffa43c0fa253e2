"""Importing the libraries, each time in a fresh process."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from benchmarks.measure import Case, Sampler
from benchmarks.rows import Row

PLUGINS = 200
PRIMITIVES = 10_000
FIRST_RESULT = "import bindax; bindax.lax.sin(1.0)"
STARTS = {
    "import": "import {0}",
    "import and first jit": "import {0}; {0}.jit(lambda x: {0}.lax.sin(x) + 1.0)(2.0)",
}
"""Programs that start, for the name of either library."""


def fresh_process(statements: str, path: Path | None = None, *, is_cold: bool = False) -> Sampler:
    """Make a sampler of the seconds that statements take in a new interpreter once it runs.

    Args:
        statements: the program.
        path: a directory whose distributions count as installed.
        is_cold: whether no module has been compiled to bytecode before.
    """
    program = (
        "import time; started = time.perf_counter()\n"
        f"{statements}\n"
        "print(time.perf_counter() - started)"
    )

    environment = dict(os.environ)
    if path:
        paths = [str(path), *filter(None, [environment.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)

    def sample() -> float:
        command = [sys.executable, "-c", program]
        with tempfile.TemporaryDirectory() as empty:
            added = {"PYTHONPYCACHEPREFIX": empty} if is_cold else {}
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, env=environment | added
            )
        return float(done.stdout)

    return sample


def dummy_plugins(plugins: int = PLUGINS) -> Path:
    """Write the metadata of distributions that offer primitives; return their directory."""
    directory = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    for number in range(plugins):
        metadata = directory / f"dummy_{number}-1.0.dist-info"
        metadata.mkdir()
        name = f"Metadata-Version: 2.1\nName: dummy-{number}\nVersion: 1.0\n"
        (metadata / "METADATA").write_text(name, encoding="utf-8")
        offers = "".join(
            f"dummy_{number}_{i} = dummy_{number}:p{i}_p\n" for i in range(PRIMITIVES // PLUGINS)
        )
        manifest = f"[bindax.v1]\ndummy_{number} = dummy_{number}\n[bindax.v1.primitives]\n{offers}"
        (metadata / "entry_points.txt").write_text(manifest, encoding="utf-8")
    return directory


def rows() -> Iterator[tuple[str, Row]]:
    """Yield the import and the first compiled function, with bytecode that is there and without."""
    for what, statements in STARTS.items():
        for cache, is_cold in (("warm", False), ("cold", True)):

            def sampler(
                library: ModuleType, statements: str = statements, is_cold: bool = is_cold
            ) -> Sampler:
                return fresh_process(statements.format(library.__name__), is_cold=is_cold)

            yield f"{what}, {cache} cache", Row(sampler, 0.45)


def cases() -> Iterator[Case]:
    """Yield what a user waits for before the first result."""
    yield Case(
        "import",
        fresh_process("import bindax"),
        fresh_process("import jax"),
        target=0.15,
        goal=0.10,
    )
    yield Case(
        f"start with {PLUGINS} plugins, {PRIMITIVES} primitives",
        fresh_process(FIRST_RESULT, path=dummy_plugins()),
        fresh_process(FIRST_RESULT),
        target=0.010,
        goal=0.005,
        against="bindax without them",
        difference=True,
    )
