"""Writes `references_*.npz`: what JAX answers to the calls in the tables beside.

Run it in this directory after a change of the calls: ``uv run python make_references.py``, with
names of tables for these alone.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "nn" / "tests"))
sys.path.append(str(Path(__file__).resolve().parents[3] / "scripts"))

from _calls import store
from _tables import TABLES

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        store(Path(__file__).with_name(f"references_{name}.npz"), {name: TABLES[name]})
