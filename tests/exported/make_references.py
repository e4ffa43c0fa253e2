"""Write references.npz: programs that JAX exported, with the results that JAX gives.

Run it with JAX installed: ``python tests/exported/make_references.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from exported_programs import PROGRAMS, library, operands

TARGET = Path(__file__).with_name("references.npz")


def main() -> None:
    """Write the file."""
    import jax  # the tests collect this file where it is not installed
    from jax import export

    jax_names = library(jax)
    entries: dict[str, Any] = {"jax": np.array(jax.__version__)}
    for name, program in PROGRAMS.items():
        function = jax.jit(program.make(jax_names))
        scope = export.SymbolicScope()
        shapes = [export.symbolic_shape(text, scope=scope) for text in program.shapes]
        types = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
        exported = export.export(function)(*types)
        order = 1 if name == "mlp" else 0
        entries[f"{name}/program"] = np.frombuffer(exported.serialize(order), np.uint8)
        arrays = operands(program)
        for i, out in enumerate(jax.tree.leaves(function(*arrays))):
            entries[f"{name}/{i}"] = np.asarray(out)
        if order:
            loss = jax.grad(lambda *xs, call=exported.call: call(*xs)[:, 0].sum(), argnums=1)
            entries[f"{name}/derivative"] = np.asarray(loss(*arrays))
    np.savez_compressed(TARGET, **entries)


if __name__ == "__main__":
    main()
