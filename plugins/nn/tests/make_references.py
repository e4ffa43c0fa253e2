"""Writes `references.npz`: what JAX answers to the calls in `_nn_tables.py`.

Run it in this directory after a change of the calls: ``uv run python make_references.py``.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "scripts"))

from _calls import store
from _nn_tables import TABLES

if __name__ == "__main__":
    store(Path(__file__).with_name("references.npz"), TABLES)
