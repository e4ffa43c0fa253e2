"""Makes modules that tests share importable; programs that need JAX are no tests."""

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
collect_ignore_glob = ["make_references.py"]
# Doctests are looked for in every module, and this one imports the reference.
if importlib.util.find_spec("jax") is None:
    collect_ignore_glob.append("_comparisons.py")
