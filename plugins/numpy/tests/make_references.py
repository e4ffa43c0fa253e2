"""Write `references.npz`: JAX's results for the calls of `test_families.py` and others.

    uv run python plugins/numpy/tests/make_references.py

All calls of one family are one compiled program, which is much faster than one for each.
"""

import functools
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).resolve().parents[3] / "scripts"))

import _jax_calls as calls
import test_families
from _numpy_families import loss, make
from _references import save
from jax_calls import FAST_COMPILER


def compiled(program):
    import jax

    return jax.jit(program, compiler_options=FAST_COMPILER)


def flat(name, chosen, found):
    import jax

    return {f"{name} {c}": jax.tree.leaves(x) for c, x in zip(chosen, found, strict=True)}


def of_family(name, family):
    """The results and derivatives of a family."""
    import jax

    made = {}
    for bits in (32, 64):
        with jax.enable_x64(bits == 64):
            program = compiled(functools.partial(make, family.calls, jax.numpy))
            made |= flat(f"{name} {bits}", family.calls, program(family.operands(bits)))

    def gradients(operands):
        return [
            jax.grad(loss(call, jax.numpy, operands))(operands["A"]) for call in family.gradients
        ]

    with jax.enable_x64(True):
        found = compiled(gradients)(family.operands(64))
    return made | flat(f"{name} gradient", family.gradients, found)


def types(name, double):
    """Types of results, as texts: shape, dtype and weak type."""
    import jax

    with jax.enable_x64(double):
        program = functools.partial(calls.make, calls.FAMILIES[name], jax.numpy)
        found = jax.eval_shape(program, calls.OPERANDS)
    return {
        call: [[list(a.shape), a.dtype.name, bool(a.weak_type)] for a in jax.tree.leaves(avals)]
        for call, avals in zip(calls.FAMILIES[name], found, strict=True)
    }


def of_calls():
    """The values and derivatives of the calls of `test_against_jax.py`."""
    import jax

    made = {}
    for name in calls.FAMILIES:
        chosen = calls.values_compared(name)
        with jax.enable_x64(True):
            found = compiled(functools.partial(calls.make, chosen, jax.numpy))(calls.OPERANDS)
        made |= flat(name, chosen, found)

    def gradients(A, B):
        return [jax.grad(calls.loss(c, jax.numpy), (0, 1))(A, B) for c in calls.GRADIENTS]

    found = compiled(gradients)(calls.OPERANDS["A"], calls.OPERANDS["B"])
    return made | flat("gradient", calls.GRADIENTS, found)


def main():
    import jax

    warnings.simplefilter("ignore")
    results = of_calls()
    for name, family in test_families.FAMILIES.items():
        results |= of_family(name, family)
    about = {
        "jax": jax.__version__,
        "types": {name: types(name, name != "defaults") for name in calls.FAMILIES},
        "wide types": types("defaults", double=True),
    }
    save(results, about)


if __name__ == "__main__":
    main()
