"""Run programs and write what they return as JSON: ``run.py FOLDER OUT [NAME ...]``.

A program is a file with a function ``main``, or with functions ``case_NAME``, which are written as
``FILE.NAME``.
"""

import importlib.util
import json
import sys
import time
from pathlib import Path

import jax
import numpy as np


def plain(x):
    """The numbers of a tree."""
    leaves = jax.tree.leaves(x)
    return [leaf if isinstance(leaf, str) else np.asarray(leaf).tolist() for leaf in leaves]


def results(path, stop):
    """Return what functions of a file return, by name; an error is raised only where it stops."""
    found = {}
    spec = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    started, width = time.perf_counter(), jax.config.jax_enable_x64
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        return {path.stem: {"missing": error.name, "seconds": 0.0}}
    for name, function in list(vars(module).items()):
        if name != "main" and not name.startswith("case_"):
            continue
        key = path.stem if name == "main" else f"{path.stem}.{name[5:]}"
        try:
            found[key] = {"values": plain(function())}
        except Exception as error:
            if stop:
                raise
            found[key] = {"error": f"{type(error).__name__}: {error}"}
        now = time.perf_counter()
        found[key]["seconds"] = round(now - started, 2)
        started = now
    jax.config.update("jax_enable_x64", width)  # some packages set it when they are imported
    return found


def main(folder, out, names):
    found = {}
    for path in sorted(Path(folder).glob("*.py")):
        if path.stem in ("run", "__init__", "make_references") or path.stem.startswith("test_"):
            continue
        if names and path.stem not in names:
            continue
        found |= results(path, stop=out == "-")
    text = json.dumps(found, indent=1)
    print(text) if out == "-" else Path(out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
