"""Makes the modules that the tests share importable by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# Doctests are looked for in every module, and this one imports the reference.
collect_ignore = ["make_references.py"]
