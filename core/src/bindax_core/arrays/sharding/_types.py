"""Shardings in the types of arrays: along explicit and manual axes of a mesh."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from bindax_core.arrays._settings import config
from bindax_core.arrays.sharding._current_mesh import NO_MESH, get_abstract_mesh
from bindax_core.arrays.sharding._mesh import AbstractMesh
from bindax_core.arrays.sharding._sharding import NamedSharding, Sharding
from bindax_core.arrays.sharding._spec import PartitionSpec

Shape = tuple[Any, ...]


class ManualAxisType:
    """The manual axes of a mesh of which the type of an array speaks, inside of ``shard_map``.

    Args:
        varying: the axes along which devices have different values.
        unreduced: those along which they have parts of a sum.
        reduced: those along which they have copies, whose cotangents are unreduced.

    >>> ManualAxisType(varying={"x"}).varying
    frozenset({'x'})
    """

    __slots__ = ("reduced", "unreduced", "varying")

    def __init__(
        self,
        varying: Iterable[Any] = (),
        unreduced: Iterable[Any] = (),
        reduced: Iterable[Any] = (),
    ) -> None:
        self.varying: frozenset[Any] = frozenset(varying)
        self.unreduced: frozenset[Any] = frozenset(unreduced)
        self.reduced: frozenset[Any] = frozenset(reduced)

    @property
    def sets(self) -> tuple[frozenset[Any], frozenset[Any], frozenset[Any]]:
        """The three sets, in the order of the arguments."""
        return self.varying, self.unreduced, self.reduced

    def update(self, **changes: Any) -> ManualAxisType:
        """A copy with other sets.

        >>> ManualAxisType(varying={"x"}).update(reduced={"y"}).reduced
        frozenset({'y'})
        """
        own = {"varying": self.varying, "unreduced": self.unreduced, "reduced": self.reduced}
        return ManualAxisType(**{**own, **changes})

    def invarying(self, mesh: AbstractMesh) -> frozenset[Any]:
        """The manual axes of a mesh along which all devices have the same value.

        >>> from bindax_core.sharding import AxisType
        >>> mesh = AbstractMesh((2, 2), ("x", "y"), (AxisType.Manual,) * 2)
        >>> ManualAxisType(varying={"x"}).invarying(mesh)
        frozenset({'y'})
        """
        return frozenset(mesh.manual_axes).difference(*self.sets)

    def of_cotangent(self) -> ManualAxisType:
        """Return that of cotangents: terms of a sum for copies, and the other way round."""
        if not self.unreduced and not self.reduced:
            return self
        return ManualAxisType(self.varying, self.reduced, self.unreduced)

    def __eq__(self, other: object) -> bool:
        return type(other) is ManualAxisType and other.sets == self.sets

    def __hash__(self) -> int:
        return hash(self.sets)

    def __bool__(self) -> bool:
        return any(self.sets)

    def __reduce__(self) -> tuple[Any, ...]:
        return ManualAxisType, self.sets

    def __repr__(self) -> str:
        sets = [sorted(names, key=str) for names in self.sets]
        return f"ManualAxisType(varying={sets[0]}, unreduced={sets[1]}, reduced={sets[2]})"


NO_MANUAL_AXES = ManualAxisType()


@lru_cache(maxsize=4096)
def whole(mesh: AbstractMesh, ndim: int) -> NamedSharding:
    """The sharding of an array that lies whole on the devices of a mesh.

    >>> whole(AbstractMesh((2,), ("x",)), 2).spec
    P(None, None)
    """
    return NamedSharding(mesh, PartitionSpec(*[None] * ndim))


def whole_at_work(ndim: int) -> NamedSharding:
    """The sharding of an array that lies whole on the mesh at work, or on none."""
    mesh = get_abstract_mesh()
    return whole(NO_MESH if mesh.empty else mesh, ndim)


def sharding_in_type(sharding: Any, shape: Shape) -> Sharding | None:
    """A sharding in the form that types of arrays of a shape keep.

    Of one on an abstract mesh with explicit axes that is what ``NamedSharding.explicit`` has. Any
    other is what users describe, and stays as it is.

    Raises:
        ValueError: when it has more axes than the array, or one that does not divide evenly.
    """
    if type(sharding) is not NamedSharding or type(sharding.mesh) is not AbstractMesh:
        spec = getattr(sharding, "spec", sharding)
        if isinstance(spec, PartitionSpec) and len(spec) > len(shape):
            raise ValueError(
                f"the sharding {sharding!r} of a type is only valid for values of rank at least "
                f"{len(spec)}, but was applied to a value of rank {len(shape)} (shape {shape}); "
                f"leave entries out."
            )
        return sharding  # type: ignore[no-any-return]
    if sharding.mesh.empty:
        return None
    if not sharding.mesh.explicit_axes:
        return sharding
    _check(sharding, shape)
    kept = sharding.explicit
    if kept is not None and config.remove_size_one_mesh_axis_from_type:
        kept = _of_several(kept).explicit
    if kept is None or len(kept.spec) == len(shape):
        return kept
    return NamedSharding(kept.mesh, kept.spec.padded(len(shape)))


def _of_several(sharding: NamedSharding) -> NamedSharding:
    """A sharding along the axes of its mesh that have more than one device."""
    spec, sizes = sharding.spec, sharding.mesh.shape
    kept = [tuple(name for name in axes if sizes[name] > 1) for axes in spec.axes]
    unreduced, reduced = (
        {name for name in names if sizes[name] > 1} for names in (spec.unreduced, spec.reduced)
    )
    return sharding.update(spec=PartitionSpec(*kept, unreduced=unreduced, reduced=reduced))


def _check(sharding: NamedSharding, shape: Shape) -> None:
    if len(sharding.spec) > len(shape):
        raise ValueError(
            f"Length of sharding.spec must be at most the number of axes: {sharding.spec!r} "
            f"describes {len(sharding.spec)}, but the shape {shape} has {len(shape)}; leave "
            f"entries out."
        )
    parts = sharding.partitions(len(shape))
    for i, (size, count) in enumerate(zip(shape, parts, strict=True)):
        if type(size) is int and size % count:
            raise ValueError(
                f"{sharding.spec!r} on {sharding.mesh!r} does not evenly divide the dimension size "
                f"{size} of axis {i} of the shape {shape} into {count} parts; pad the array, or "
                f"divide another axis."
            )


def lies_in_type(sharding: Any) -> bool:
    """Tell whether a sharding is one that types of arrays have, not one that users describe."""
    return (
        type(sharding) is NamedSharding
        and type(sharding.mesh) is AbstractMesh
        and bool(sharding.mesh.explicit_axes)
    )


def explicit_part(sharding: Any) -> NamedSharding | None:
    """The part of a sharding that the types of its arrays have, or None."""
    sharding = getattr(sharding, "sharding", sharding)  # that of a Format
    return sharding.explicit if type(sharding) is NamedSharding else None


def axes_text(shape: Shape, sharding: NamedSharding) -> str:
    """The sizes of a type with the mesh axes that divide them, such as ``8@x,4``."""
    shown = []
    for size, axes in zip(shape, sharding.spec.axes, strict=True):
        names = ",".join(map(str, axes))
        shown.append(
            f"{size}@({names})" if len(axes) > 1 else f"{size}@{names}" if axes else str(size)
        )
    return ",".join(shown)


def manual_text(sharding: Any, manual: ManualAxisType) -> str:
    """The text of a type beside its sizes, such as ``{V:x, U:y}``; empty if there is none."""
    spec = sharding.spec if lies_in_type(sharding) else PartitionSpec()
    sets = {
        "V": manual.varying,
        "U": manual.unreduced | spec.unreduced,
        "R": manual.reduced | spec.reduced,
    }
    shown = [_named(letter, names) for letter, names in sets.items() if names]
    return f"{{{', '.join(shown)}}}" if shown else ""


def _named(letter: str, names: frozenset[Any]) -> str:
    listed = sorted(map(str, names))
    return f"{letter}:{listed[0]}" if len(listed) == 1 else f"{letter}:({','.join(listed)})"
