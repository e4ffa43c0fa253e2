"""Parts of programs in which devices exchange nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from bindax_core import config

__all__ = ["no_collectives"]


@contextmanager
def no_collectives(axes: Any = None) -> Iterator[None]:
    """Refuse exchanges between devices along axes of a mesh, inside of a ``with`` block.

    So a program says, and is held to it, where each device works by itself. What is refused are
    the collectives of ``bindax.lax`` that functions call; those of derivatives, and what the
    compiler exchanges, are not.

    Args:
        axes: the name of an axis of the mesh, or a set of names; all axes when omitted.

    Raises:
        ValueError: inside of the block, by ``psum`` and the like along one of the axes.

    >>> import numpy as np
    >>> from bindax_core.sharding import AbstractMesh, P
    >>> from bindax_parallel import psum, shard_map
    >>> @shard_map(mesh=AbstractMesh((2,), ("i",)), in_specs=P("i"), out_specs=P())
    ... def total(x):
    ...     with no_collectives("i"):
    ...         own = x.sum()
    ...     return psum(own, "i")
    >>> total(np.arange(4.0))
    Array(6., dtype=float64)
    """
    names = axes if isinstance(axes, (set, frozenset, tuple, list)) else (axes,)
    with config.override(no_collectives="all" if axes is None else frozenset(names)):
        yield


def check_allowed(operation: str, names: Iterable[Any]) -> None:
    """Raise where a block around the caller refuses exchanges along one of some axes."""
    refused = config.no_collectives
    if refused is None:
        return
    wrong = [name for name in names if refused == "all" or name in refused]
    if wrong:
        raise ValueError(
            f"{operation} along the mesh axis {wrong[0]!r} is inside of a block `with "
            f"no_collectives(...)`, in which devices exchange nothing along it. Move it out of the "
            f"block, or leave the axis out of its axes."
        )
