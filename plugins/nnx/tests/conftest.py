"""Makes modules that tests share importable; programs that need JAX are no tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
collect_ignore_glob = ["make_references.py", "guide/*"]
