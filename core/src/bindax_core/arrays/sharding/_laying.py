"""Laying a value out as a type says."""

from __future__ import annotations

from typing import Any

from bindax_core._extension_points import runtime
from bindax_core.arrays._settings import config
from bindax_core.arrays.sharding._current_mesh import get_abstract_mesh
from bindax_core.arrays.sharding._sharding import NamedSharding
from bindax_core.arrays.sharding._spec import PartitionSpec
from bindax_core.arrays.sharding._types import whole
from bindax_core.errors import PluginError
from bindax_core.kernel._aval import typeof


def constrained(x: Any, sharding: Any) -> Any:
    """A value with another sharding on its devices.

    Args:
        x: an array, traced or not.
        sharding: a ``NamedSharding``, or a ``Space`` for another memory.

    Raises:
        PluginError: when no installed plugin offers the primitive that does it.

    >>> import numpy as np
    >>> from bindax_core.sharding import P, make_mesh
    >>> constrained(np.ones(2), NamedSharding(make_mesh((1,), ("x",)), P("x")))
    Array([1., 1.], dtype=float64)
    """
    what = "divided anew among its devices"
    return _bound("sharding_constraint", what, x, sharding=sharding)


def laid_out(x: Any, layout: Any) -> Any:
    """A value where it is, with its axes in another order in memory."""
    what = "laid out anew in memory"
    return _bound("layout_constraint", what, x, layout=layout, of_operand=False)


def _bound(name: str, what: str, x: Any, **params: Any) -> Any:
    primitive = runtime.plugins.find_primitive(name)
    if primitive is None:
        raise PluginError(
            f"an array is to be {what}, but no installed plugin offers the primitive {name!r}: "
            f"install bindax-transforms."
        )
    return primitive.bind(x, **params)


def laid_as(x: Any, aval: Any) -> Any:
    """A value that lies along explicit axes as a type says; itself where it does already.

    Args:
        x: an array, traced or not, or a number.
        aval: a type of its shape.

    >>> laid_as(1.0, typeof(1.0))
    1.0
    """
    wanted, own = getattr(aval, "placement", None), typeof(x)
    present: Any = getattr(own, "placement", None)
    if wanted is present:
        return x
    given = wanted if wanted is not None and aval.is_divided else None
    if given is None:
        if not getattr(own, "is_divided", False):
            return x
        given = whole(present.mesh, len(own.shape))
    return constrained(pinned(x, given), given)


def pinned(x: Any, target: NamedSharding) -> Any:
    """A value that is to become a sum, where it is none: as its type says that it lies.

    Otherwise the compiler may take a constant for a term that each device has.
    """
    own = typeof(x)
    if not target.spec.unreduced:
        return x
    if not own.is_divided:
        return constrained(x, whole(target.mesh, len(own.shape)))
    lying = own.placement
    return x if lying.spec.unreduced else constrained(x, lying)


def as_open_sum(x: Any) -> Any:
    """A value to which terms are added: itself a term, where an ``out_sharding`` asks for a sum.

    >>> as_open_sum(1.0)
    1.0
    """
    names = config.open_sums
    if not names:
        return x
    target = NamedSharding(get_abstract_mesh(), PartitionSpec(unreduced=names))
    return laid_as(x, typeof(x).lying(target))
