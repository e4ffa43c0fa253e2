"""Run programs and write what they return as JSON: ``run.py FOLDER OUT [NAME ...]``."""

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


def main(folder, out, names):
    found = {}
    for path in sorted(Path(folder).glob("*.py")):
        if path.stem in ("run", "__init__", "make_references") or path.stem.startswith("test_"):
            continue
        if names and path.stem not in names:
            continue
        spec = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        start = time.perf_counter()
        try:
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            found[path.stem] = {"values": plain(module.main())}
        except ModuleNotFoundError as error:
            found[path.stem] = {"missing": error.name}
        except Exception as error:
            if out == "-":
                raise
            found[path.stem] = {"error": f"{type(error).__name__}: {error}"}
        found[path.stem]["seconds"] = round(time.perf_counter() - start, 2)
    text = json.dumps(found, indent=1)
    print(text) if out == "-" else Path(out).write_text(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
