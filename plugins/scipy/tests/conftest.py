"""Makes the modules that the tests share, those of `bindax-nn` included, importable by name."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "nn" / "tests")]
