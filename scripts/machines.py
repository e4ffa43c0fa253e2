"""Run a command as on other machines, and print what passed and failed under each setting.

What a processor, a locale or an order decides must not decide whether a test passes. Each setting
below restricts the kernels that NumPy, BLAS and XLA choose among, or changes what surrounds the
process, or which releases are installed. Settings that can't be run here are left out, and named.
A command that starts with ``uv run`` runs in the environment of a setting of Python and releases.

    uv run python scripts/machines.py -- python -m pytest -q plugins/scipy  # under each setting
    uv run python scripts/machines.py --only SSE --only Zen -- python -m pytest -q
    uv run python scripts/machines.py --rotate 2 -- uv run pytest -q        # two, others each day
    uv run python scripts/machines.py --list
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from isolated import ROOT, interpreter

# NumPy's kernels for newer processors among which it chooses here; their names differ by release.
KERNELS: list[str] = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
AVX512 = " ".join(name for name in KERNELS if name.startswith(("AVX512", "X86_V4")))
ORDER = "BINDAX_ORDER"


class Setting(NamedTuple):
    """One kind of machine.

    Attributes:
        variables: of the environment.
        arguments: appended to the command.
        needs: what the processor must be able to do, as Linux names it.
        python: the version of Python that uv makes an environment with, or none for this one.
    """

    variables: dict[str, str]
    arguments: tuple[str, ...] = ()
    needs: str = ""
    python: str = ""


def processor(blas: str, numpy: str = "", xla: str = "AVX2", needs: str = "") -> Setting:
    """Return a setting of BLAS's kernels, without some of NumPy's, and XLA's instructions."""
    variables = {
        "OPENBLAS_CORETYPE": blas,
        "NPY_DISABLE_CPU_FEATURES": numpy,
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa={xla}".strip(),
    }
    return Setting(variables, (), needs)


def order(seed: int) -> Setting:
    """Return a setting in which the tests run in a random order."""
    path = os.pathsep.join(
        filter(None, [str(Path(__file__).resolve().parent), os.environ.get("PYTHONPATH")])
    )
    return Setting({ORDER: str(seed), "PYTHONPATH": path}, ("-p", "machines"))


def releases(python: str, resolution: str) -> Setting:
    """Return a setting of the newest releases that are declared, or of the oldest ones."""
    variables = {
        "UV_PROJECT_ENVIRONMENT": str(ROOT / f"build/environments/{python}-{resolution}"),
        "UV_RESOLUTION": resolution,
    }
    return Setting(variables, python=python)


SETTINGS: dict[str, Setting] = {
    "as it is": Setting({}),
    "AVX2": processor("Haswell", AVX512),
    "SSE": processor("Nehalem", " ".join(KERNELS)),
    # With NumPy 2.5.5 its float32 products of transposed matrices end the process, without bindax.
    "SSE3": processor("Prescott", " ".join(KERNELS)),
    "AVX-512": processor("SkylakeX", xla="AVX512", needs="avx512f"),
    "Zen": processor("Zen", AVX512, needs="avx2"),
    "hash seed 1": Setting({"PYTHONHASHSEED": "1"}),
    "hash seed 4242": Setting({"PYTHONHASHSEED": "4242"}),
    "another locale and zone": Setting(
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "TZ": "Pacific/Auckland"}
    ),
    "one worker": Setting({}, ("-n1",)),
    "four workers": Setting({}, ("-n4",)),
    # Not even the superuser can write below a device; what uv keeps stays where it is.
    "no home": Setting(
        {
            "HOME": "/dev/null/home",
            "XDG_CACHE_HOME": "/dev/null/cache",
            "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache/uv")),
        }
    ),
    "order 1": order(1),
    "order 2": order(2),
    "order 3": order(3),
    "Python 3.12, newest": releases("3.12", "highest"),
    "Python 3.13, newest": releases("3.13", "highest"),
    "Python 3.14, newest": releases("3.14", "highest"),
    "Python 3.11, oldest": releases("3.11", "lowest-direct"),
}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle the files, and the tests of each, after all that leaves some of them out."""
    generator = random.Random(int(os.environ[ORDER]))
    files = {str(item.path): generator.random() for item in items}
    keys = {item: (files[str(item.path)], generator.random()) for item in items}
    items.sort(key=lambda item: keys[item])


def pytest_report_header() -> str:
    """Name the seed of the order."""
    return f"{ORDER}={os.environ[ORDER]}"


def lacking(setting: Setting) -> str:
    """Return what a setting needs that is not here; nothing if it can be run."""
    if setting.python and interpreter(setting.python) is None:
        return f"there is no Python {setting.python}"
    flags = Path("/proc/cpuinfo")
    if setting.needs and flags.exists():
        has = re.search(rf"\b{setting.needs}\b", flags.read_text(encoding="utf-8")) is not None
        return "" if has else f"this processor has no {setting.needs}"
    return f"nothing says whether this processor has {setting.needs}" if setting.needs else ""


def rotated(names: Sequence[str], count: int, day: int) -> list[str]:
    """Return the settings of a day: neighbours in the table, so that each gets its turn."""
    return [names[(day * count + i) % len(names)] for i in range(min(count, len(names)))]


def run(name: str, command: Sequence[str]) -> bool:
    """Run the command under one setting; print a line, and what failed."""
    setting = SETTINGS[name]
    start = time.monotonic()
    chosen = {"UV_PYTHON": str(interpreter(setting.python))} if setting.python else {}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        code = subprocess.run(
            [*command, *setting.arguments],
            env={**os.environ, **setting.variables, **chosen},
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
        log.seek(0)
        lines = log.read().splitlines()
    print(f"{name:<24} {counts(lines)}, exit {code}, {time.monotonic() - start:.0f} s", flush=True)
    if code:
        named = [line[:160] for line in lines if line.startswith(("FAILED ", "ERROR "))]
        print(*(f"  {line}" for line in named or lines[-20:]), sep="\n", flush=True)
    return code == 0


def counts(lines: Sequence[str]) -> str:
    """Return how many tests passed and failed, as pytest's last line says."""
    summary = next((line for line in reversed(lines) if re.search(r"\bin [\d.]+s\b", line)), "")
    found = {word: number for number, word in re.findall(r"(\d+) (passed|failed|error)", summary)}
    failed = int(found.get("failed", 0)) + int(found.get("error", 0))
    return f"{found.get('passed', 0)} passed, {failed} failed"


def main() -> int:
    """Run what the command line asks for; return 1 where something failed."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", action="append", choices=[*SETTINGS], help="run this setting")
    parser.add_argument("--rotate", type=int, metavar="N", help="run N settings, chosen by the day")
    parser.add_argument("--list", action="store_true", help="print the settings")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what to run, after --")
    arguments = parser.parse_args()
    missing = {name: lacking(SETTINGS[name]) for name in arguments.only or SETTINGS}
    names = [name for name, lacks in missing.items() if not lacks]
    for name in (name for name in missing if missing[name]):
        print(f"{name:<24} left out: {missing[name]}")
    if arguments.rotate is not None:
        names = rotated(names[1:], arguments.rotate, dt.date.today().toordinal())
    if arguments.list:
        for name in names:
            print(f"{name:<24} {SETTINGS[name].variables} {' '.join(SETTINGS[name].arguments)}")
        return 0
    command = arguments.command[arguments.command[:1] == ["--"] :]
    if not command:
        parser.error("no command: give it after --")
    passed = [run(name, command) for name in names]
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main())
