"""Random programs with random transformations around them, and smaller ones like them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from .operands import COMPLEX, FLOATS
from .programs import STEPS, Program
from .transformations import TRANSFORMATIONS, affordable

BATCHED = frozenset({"vmap", "vmap of integers", "jacfwd", "jacrev"})
"""Around a `cond` they give each element a key, and JAX draws all bits from the first one."""


class Case(NamedTuple):
    """A program, the names of transformations around it, innermost first, and a seed of numbers."""

    program: Program
    chain: tuple[str, ...]
    data: int


def random_case(seed: int) -> Case:
    """5 to 50 steps within none to three transformations, all decided by the seed."""
    choices = random.Random(seed)
    library = choices.choice(list(STEPS))
    chain = choices.choices(list(TRANSFORMATIONS), k=choices.choice([0, 1, 1, 2, 2, 3, 3]))
    length = min(choices.randint(5, choices.choice([15, 50])), affordable(chain))
    kinds = list(STEPS[library])
    if not BATCHED.isdisjoint(chain):
        kinds.remove("random bits")
    names = choices.choices(kinds, k=length)
    program = Program(
        steps=tuple((name, choices.randrange(10**6)) for name in names),
        dtype=choices.choice(["float64", "float64", *FLOATS, *COMPLEX]),
        shape=(choices.randint(1, 4), choices.randint(1, 3)),
        library=library,
    )
    return Case(program, tuple(chain), choices.randrange(10**6))


def smaller(case: Case) -> Iterator[Case]:
    """The same case with one transformation less, or fewer steps, halves first."""
    program, chain, data = case
    for i in range(len(chain)):
        yield Case(program, chain[:i] + chain[i + 1 :], data)
    count = len(program.steps)
    size = count // 2
    while size:
        for start in range(0, count, size):
            kept = program.steps[:start] + program.steps[start + size :]
            yield Case(program._replace(steps=kept), chain, data)
        size //= 2
