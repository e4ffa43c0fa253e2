"""Layouts: the order in which the elements of an array lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from bindax_core.arrays._extended_dtypes import is_extended
from bindax_core.arrays.sharding._sharding import Sharding


class AutoLayout:
    """The layout that the compiler chooses: ``Layout.AUTO``."""

    def __repr__(self) -> str:
        return "Layout.AUTO"

    def __reduce__(self) -> str:
        return "AUTO"  # there is one

    def text_fields(self) -> dict[str, Any]:
        """The fields in texts of jaxprs: none."""
        return {}

    @staticmethod
    def from_text_fields() -> AutoLayout:
        """The inverse of ``text_fields``."""
        return AUTO


AUTO: Final = AutoLayout()


def _order(axes: Sequence[int]) -> tuple[int, ...]:
    order = tuple(axes)
    if sorted(order) != list(range(len(order))):
        raise ValueError(
            f"Layout: major_to_minor must name each axis of an array once, but it is {order}."
        )
    return order


def _refuse_tiles(tiling: Any) -> None:
    if tiling:
        raise ValueError(
            f"Layout: tiling={tiling!r} is asked for, but no device here keeps arrays in tiles; "
            f"leave it out."
        )


@dataclass(frozen=True)
class Layout:
    """The order of the axes of an array in memory.

    Args:
        major_to_minor: the axes, the one whose neighbours lie farthest apart first. An array of
            NumPy in C order has ``(0, 1, …)``, which is the default.
        tiling: None: arrays in tiles are not there.

    Attributes:
        AUTO: the order that the compiler chooses, for arguments and results of ``jit``.

    Raises:
        ValueError: when the order lacks an axis or has one twice, or tiles are asked for.

    >>> import numpy as np
    >>> from bindax_core import device_put
    >>> device_put(np.ones((2, 3))).format.layout
    Layout(major_to_minor=(0, 1))
    """

    AUTO: ClassVar[AutoLayout] = AUTO

    major_to_minor: tuple[int, ...]
    tiling: None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "major_to_minor", _order(self.major_to_minor))
        _refuse_tiles(self.tiling)

    @classmethod
    def default(cls, ndim: int) -> Layout:
        """The layout of arrays with ``ndim`` axes of which nothing is said."""
        return cls(tuple(range(ndim)))

    @property
    def is_default(self) -> bool:
        """True of the order that arrays have of which nothing is said."""
        return self.major_to_minor == tuple(range(len(self.major_to_minor)))

    def check(self, aval: Any, what: str) -> None:
        """Raise unless arrays of a type can lie so.

        Args:
            aval: the type.
            what: the array, for the message.

        Raises:
            ValueError: when the array has another number of axes, or its dtype is extended.
        """
        if len(self.major_to_minor) != len(aval.shape):
            raise ValueError(
                f"{what} has {len(aval.shape)} axes (shape {aval.shape}), but {self!r} orders "
                f"{len(self.major_to_minor)}; name each axis of the array once."
            )
        if is_extended(aval.dtype) and not self.is_default:
            raise ValueError(
                f"{what} is of type {aval.str_short()}, whose elements are arrays themselves; it "
                f"lies in the default order alone."
            )


@dataclass(frozen=True)
class Format:
    """The layout of an array and its sharding, which together say where each element is.

    It stands where a sharding does: in ``device_put``, ``ShapeDtypeStruct``, ``in_shardings`` and
    ``out_shardings`` of ``jit``, and ``with_sharding_constraint``.

    Args:
        layout: a ``Layout``, or ``Layout.AUTO``; None where nothing is said.
        sharding: a ``Sharding``; None where nothing is said.

    Raises:
        TypeError: when one of the two is something else.
        ValueError: when an order of axes is given without a sharding.

    >>> import numpy as np
    >>> from bindax_core import devices
    >>> from bindax_core.sharding import Format, Layout, SingleDeviceSharding
    >>> Format(Layout((1, 0)), SingleDeviceSharding(devices()[0])).layout
    Layout(major_to_minor=(1, 0))
    """

    layout: Layout | AutoLayout | None = None
    sharding: Sharding | None = None

    def __post_init__(self) -> None:
        if not (self.layout is None or isinstance(self.layout, (Layout, AutoLayout))):
            raise TypeError(
                f"Format: layout must be a Layout, Layout.AUTO or None, but it is {self.layout!r}."
            )
        if not (self.sharding is None or isinstance(self.sharding, Sharding)):
            raise TypeError(
                f"Format: sharding must be a Sharding or None, but it is {self.sharding!r:.80}."
            )
        if isinstance(self.layout, Layout) and self.sharding is None:
            raise ValueError(
                f"Format: {self.layout!r} needs a sharding beside it, which says on which devices "
                f"arrays lie in this order."
            )


def split_format(given: Any) -> tuple[Any, Any]:
    """The layout and the sharding of what users give for a sharding; each None if not given."""
    return (given.layout, given.sharding) if isinstance(given, Format) else (None, given)


def concrete_format(
    given: Any, what: str, error: type[Exception] = ValueError
) -> tuple[Layout | None, Any]:
    """``split_format`` for arrays that are made: nothing is left to a compiler.

    Args:
        given: a ``Format``, or anything else, which is taken for a sharding.
        what: the argument, for the message.
        error: the class of the error for ``Layout.AUTO``.
    """
    layout, sharding = split_format(given)
    if isinstance(layout, AutoLayout):
        raise error(
            f"{what}: the sharding and layout of an array should be concrete, but `Layout.AUTO` is "
            f"given, which a compiler decides for arguments and results of jit; give a Layout."
        )
    return layout, sharding
