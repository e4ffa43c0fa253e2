"""Sharding rules on devices of the caller's choice."""

from __future__ import annotations

from collections.abc import Sequence

from bindax_core.extend import Primitive
from bindax_core.sharding import Mesh
from bindax_testing._cases import cases_of
from bindax_testing._checks._divisions import MOST, divided_cases, division_problems
from bindax_testing._samples import Sample


def check_shardings(
    primitive: Primitive, samples: Sequence[Sample], mesh: Mesh, *, most: int = MOST
) -> list[str]:
    """Compare the results of a primitive on divided operands with those on whole ones.

    In every division of the operands that its ``sharding`` rule accepts, the compiled results have
    to be those of whole operands, and to lie as the rule says; so have a batch of them, divided
    along the new axis, and the cotangents, which lie as the operands do.

    Args:
        primitive: a primitive with a ``sharding`` rule.
        samples: what it is applied to. Axes of odd sizes are divided in no way.
        mesh: a mesh whose axes are explicit.
        most: the divisions that are tried for a sample, at most.

    Returns:
        What is wrong, as text, for each division.

    Raises:
        ValueError: when an axis of the mesh is not explicit.

    >>> from bindax_core.sharding import AxisType, make_mesh
    >>> from bindax_lax_basic import neg_p
    >>> from bindax_testing import array, sample
    >>> mesh = make_mesh((1,), ("x",), AxisType.Explicit)
    >>> check_shardings(neg_p, [sample(neg_p, array((4, 2)))], mesh)
    []
    """
    if not mesh.are_all_axes_explicit:
        raise ValueError(f"check_shardings: all axes of the mesh must be explicit, but got {mesh}.")
    found: list[str] = []
    for one in samples:
        for case in cases_of(one, (primitive,)):
            for divided in divided_cases(case, mesh, most):
                problems = division_problems(divided, mesh) or []
                found += [f"{case.description}: {problem}" for problem in problems]
    return found
