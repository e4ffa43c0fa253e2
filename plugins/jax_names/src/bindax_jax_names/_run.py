"""``python -m bindax.jax``: a program, a module or text, with the alias installed."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from bindax_jax_names._install import install

USAGE = (
    "usage: python -m bindax.jax PROGRAM.py [ARGUMENT ...]\n"
    "       python -m bindax.jax -m MODULE [ARGUMENT ...]\n"
    "       python -m bindax.jax -c TEXT [ARGUMENT ...]\n"
    "Run a program written for JAX on bindax."
)


def run_program(arguments: Sequence[str]) -> None:
    """Run a program as Python does, with ``import jax`` giving the alias.

    Args:
        arguments: the path of a program, or ``-m`` and a module, or ``-c`` and text, and then the
            program's own arguments.

    Raises:
        SystemExit: when there is no program, with the usage; what the program raises passes.
    """
    if not arguments or arguments[0] in ("-h", "--help"):
        raise SystemExit(USAGE)
    first, rest = arguments[0], list(arguments[1:])
    if first in ("-m", "-c") and not rest:
        raise SystemExit(USAGE)
    install()
    if first == "-m":
        sys.argv = rest
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        # Text from the command line is what `python -c` runs.
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif not Path(first).exists():
        raise SystemExit(f"python -m bindax.jax: there is no program {first!r}.\n{USAGE}")
    else:
        sys.argv = [first, *rest]
        sys.path.insert(0, str(Path(first).resolve().parent))
        runpy.run_path(first, run_name="__main__")
