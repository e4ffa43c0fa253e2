"""Store JAX's answers to the calls in ``_cases.py``: ``python make_references.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _cases import CASES, KEYS, SHAPE_PARAMETERS


def main() -> None:
    """Write ``references.npz`` beside this file."""
    answers = {}
    for name, case in CASES.items():
        function = getattr(jax.random, case.function)
        out = function(jax.random.key(case.seed, impl=case.impl), *case.args, **case.options)
        bits = np.asarray(out)
        # The npz format knows no bfloat16: it is stored as the bits of it.
        answers[name] = bits.view(np.uint16) if bits.dtype.name == "bfloat16" else bits
    for name, (function, args, impl) in KEYS.items():
        out = getattr(jax.random, function)(jax.random.key(42, impl=impl), *args)
        answers[name] = np.asarray(jax.random.key_data(out))
    for name in ("gamma", "loggamma"):
        draw = getattr(jax.random, name)
        total = jax.grad(lambda a, draw=draw: draw(jax.random.key(3), a).sum())
        answers[f"grad_{name}"] = np.asarray(total(SHAPE_PARAMETERS))
    answers["jax_version"] = np.array(jax.__version__)
    np.savez_compressed(Path(__file__).parent / "references.npz", **answers)


if __name__ == "__main__":
    main()
