"""Makes the modules that the tests share importable by name."""

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# Doctests are looked for in every module, and these import the reference.
HAS_JAX = importlib.util.find_spec("jax") is not None
collect_ignore = [] if HAS_JAX else ["_bad_inputs.py", "_differential.py", "_jax_reference.py"]
