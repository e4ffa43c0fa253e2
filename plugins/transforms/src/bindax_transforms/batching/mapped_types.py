"""Types of elements and of batches, and how batches lie along explicit axes of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import config, typeof
from bindax_core.sharding import AbstractMesh, Sharding
from bindax_transforms.batching.axis_sizes import NamedSize, explicit_entry
from bindax_transforms.compilation.laying import laid_along

BatchDim = int | None


def mapped_aval(batch_dim: BatchDim, aval: Any) -> Any:
    """The type of one element: the batch axis removed."""
    return aval if batch_dim is None else aval.without_axis(batch_dim)


def unmapped_aval(axis_size: int, batch_dim: BatchDim, aval: Any) -> Any:
    """The type of a batch: the batch axis inserted."""
    if batch_dim is None:
        return aval
    entry = explicit_entry(axis_size)
    return aval.with_axis(batch_dim, axis_size, entry, getattr(axis_size, "mesh", None))


def laid_batch(axis_size: int, batch_dim: BatchDim, x: Any) -> Any:
    """A batch whose axis is divided as that of the ``vmap`` is."""
    entry = None if batch_dim is None else explicit_entry(axis_size)
    if entry is None or not isinstance(axis_size, NamedSize):
        return x
    return laid_along(x, batch_dim, entry, axis_size.mesh)  # type: ignore[arg-type]


def lies_by_rules(operands: Sequence[Any], params: dict[str, Any]) -> bool:
    """Tell whether operands lie in parts, and no parameter says how the results do."""
    divided = any(getattr(typeof(x), "is_divided", False) for x in operands)
    return divided and not any(isinstance(value, Sharding) for value in params.values())


def explicit_axis(
    operands: Sequence[Any], dims: Sequence[BatchDim], given: tuple[Any, ...]
) -> tuple[tuple[Any, ...], AbstractMesh | None]:
    """The mesh axes that divide the mapped axis, and their mesh where they are explicit.

    Raises:
        ValueError: when the arguments have it divided differently, or ``spmd_axis_name`` says
            other mesh axes.
    """
    mapped = [(typeof(x), d) for x, d in zip(operands, dims, strict=True) if d is not None]
    divided = [aval for aval, _ in mapped if getattr(aval, "is_divided", False)]
    if not divided:
        return given, None
    found = {aval.sharding.spec[d] for aval, d in mapped if hasattr(aval, "is_divided")}
    if len(found) > 1:
        shown = ", ".join([f"axis {d} of {aval.str_short()}" for aval, d in mapped])
        raise ValueError(
            f"Mapped away dimension of inputs passed to vmap should be sharded the same, but it is "
            f"not in {shown}. Lay the arguments out alike by reshard."
        )
    (entry,) = found
    names = entry if isinstance(entry, tuple) else () if entry is None else (entry,)
    if config.remove_size_one_mesh_axis_from_type:
        given = tuple([name for name in given if divided[0].sharding.mesh.shape[name] > 1])
    if given and names and given != names:
        raise ValueError(
            f"Only one of spmd_axis_name or arrays sharded on an explicit mesh axis may say how "
            f"the mapped axis of vmap is divided, but spmd_axis_name is {given!r}, and the "
            f"arguments are divided by {names!r}. Leave spmd_axis_name out."
        )
    if not names:
        return given, None
    return names, divided[0].sharding.mesh
