"""Strategies of hypothesis for arrays, trees of arrays, meshes, partition specs and jaxprs.

>>> from bindax_testing import strategies
>>> strategies.arrays("float32", shape=(2, 3)).example().shape  # doctest: +SKIP
(2, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core import devices
from bindax_core.extend import ShapedArray
from bindax_core.sharding import Mesh, PartitionSpec, make_mesh
from bindax_testing._domains import REAL, Domain, Shape
from bindax_testing._random_jaxprs import jaxpr_of

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from bindax_core.extend import ClosedJaxpr

DTYPES = ("float32", "float64", "int32", "bool", "complex64")


def _hypothesis() -> Any:
    """The strategies of hypothesis, which is installed apart."""
    try:
        from hypothesis import strategies
    except ModuleNotFoundError as error:
        message = "bindax_testing.strategies needs hypothesis: pip install it."
        raise ModuleNotFoundError(message, name=error.name) from None
    return strategies


def shapes(*, max_rank: int = 3, min_size: int = 0, max_size: int = 4) -> SearchStrategy[Shape]:
    """Shapes; those of scalars and of arrays without elements are among them.

    Args:
        max_rank: the greatest number of axes.
        min_size: the least size of an axis.
        max_size: the greatest one.
    """
    st = _hypothesis()
    sizes = st.integers(min_size, max_size)
    return st.lists(sizes, max_size=max_rank).map(tuple)  # type: ignore[no-any-return]


def arrays(
    dtype: Any = "float32", shape: Any = None, domain: Domain = REAL
) -> SearchStrategy[np.ndarray[Any, Any]]:
    """NumPy arrays, whose floating-point elements are distinct.

    Args:
        dtype: a dtype, or a strategy of dtypes.
        shape: a shape, a strategy of shapes, or None for those of ``shapes()``.
        domain: the values; for integers the ends are rounded.
    """
    st = _hypothesis()
    of_dtype = dtype if hasattr(dtype, "flatmap") else st.just(dtype)
    of_shape: Any = shapes() if shape is None else shape
    of_shape = of_shape if hasattr(of_shape, "flatmap") else st.just(tuple(of_shape))

    def made(drawn: tuple[Any, Shape, int]) -> np.ndarray[Any, Any]:
        kind, sizes, seed = drawn
        return domain.draw(np.random.default_rng(seed), sizes, np.dtype(kind))

    seeds = st.integers(0, 2**32 - 1)
    return st.tuples(of_dtype, of_shape, seeds).map(made)  # type: ignore[no-any-return]


def pytrees(
    leaves: SearchStrategy[Any] | None = None, *, max_leaves: int = 6
) -> SearchStrategy[Any]:
    """Trees of tuples, lists, dictionaries and None.

    Args:
        leaves: a strategy of leaves; arrays where it is None.
        max_leaves: about how many leaves there are at most.
    """
    st = _hypothesis()
    base = arrays() if leaves is None else leaves

    def node(children: Any) -> Any:
        some = st.lists(children, max_size=3)
        keys = st.text("abc", min_size=1, max_size=2)
        return some | some.map(tuple) | st.dictionaries(keys, children, max_size=3)

    return st.recursive(st.none() | base, node, max_leaves=max_leaves)  # type: ignore[no-any-return]


def meshes(
    names: Sequence[str] = ("x", "y"), *, max_devices: int | None = None
) -> SearchStrategy[Mesh]:
    """Meshes of the devices that there are, with an axis for each name.

    Args:
        names: the names of the axes.
        max_devices: the greatest number of devices; None for all.
    """
    st = _hypothesis()
    count = min(len(devices()), max_devices or len(devices()))

    def fits(sizes: list[int]) -> bool:
        return int(np.prod(sizes)) <= count

    def made(sizes: list[int]) -> Mesh:
        used = devices()[: int(np.prod(sizes))]
        return make_mesh(tuple(sizes), tuple(names), devices=used)

    powers = st.sampled_from([n for n in (1, 2, 4, 8) if n <= count])
    sizes = st.lists(powers, min_size=len(names), max_size=len(names)).filter(fits)
    return sizes.map(made)  # type: ignore[no-any-return]


def specs(mesh: Mesh, shape: Shape) -> SearchStrategy[PartitionSpec]:
    """Partition specs that a shape can have on a mesh: sizes are divisible, no axis occurs twice.

    Args:
        mesh: the mesh.
        shape: the shape of the array.
    """
    st = _hypothesis()
    sizes = dict(zip(mesh.axis_names, mesh.devices.shape, strict=True))

    def made(order: list[str | None]) -> PartitionSpec:
        used: list[str | None] = []
        for size, name in zip(shape, order, strict=False):
            fits = name is not None and name not in used and size % sizes[name] == 0
            used.append(name if fits else None)
        return PartitionSpec(*used)

    names = st.sampled_from([None, *sizes])
    lists = st.lists(names, min_size=len(shape), max_size=len(shape))
    return lists.map(made)  # type: ignore[no-any-return]


def jaxprs(
    *,
    dtype: Any = "float32",
    shapes: Sequence[Shape] = ((), (3,), (2, 3)),
    max_equations: int = 8,
) -> SearchStrategy[ClosedJaxpr]:
    """Well-typed jaxprs of elementwise operations, reductions, comparisons and rearrangements.

    They are made of primitives of ``bindax-lax-basic``, which has to be installed, and give the one
    or two values that they compute last. Smaller ones have fewer equations.

    Args:
        dtype: that of the operands.
        shapes: those of the operands, of which there are one to three.
        max_equations: about how many equations there are at most.

    >>> from bindax_core import eval_jaxpr
    >>> closed = jaxprs(max_equations=3).example()  # doctest: +SKIP
    >>> eval_jaxpr(closed.jaxpr, closed.consts, *operands)  # doctest: +SKIP
    """
    st = _hypothesis()
    kind = np.dtype(dtype)
    numbers = st.integers(0, 99)
    picks = st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=max_equations)
    operands = st.lists(st.sampled_from([tuple(one) for one in shapes]), min_size=1, max_size=3)

    def made(drawn: Any) -> ClosedJaxpr:
        sizes, chosen = drawn
        return jaxpr_of([ShapedArray(shape, kind) for shape in sizes], chosen)

    return st.tuples(operands, picks).map(made)  # type: ignore[no-any-return]
