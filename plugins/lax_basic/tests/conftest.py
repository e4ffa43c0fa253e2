"""Makes the modules that the tests share importable by name."""

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
collect_ignore = []
# Doctests are looked for in every module, and these import the reference.
if importlib.util.find_spec("jax") is None:
    collect_ignore += ["_bad_inputs.py", "_differential.py", "_jax_reference.py"]
# These are about all functions of ``bindax.lax``, of which some are in other packages.
if importlib.util.find_spec("bindax") is None:
    here = Path(__file__).parent
    collect_ignore += [
        p.name
        for p in here.glob("*.py")
        if "from bindax import lax" in p.read_text(encoding="utf-8")
    ]
    collect_ignore += [
        p.name for p in here.glob("test_*.py") if "_differential" in p.read_text(encoding="utf-8")
    ]
