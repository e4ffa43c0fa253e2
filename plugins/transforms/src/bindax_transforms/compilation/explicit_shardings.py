"""Names of programs that say explicitly how their arrays lie.

JAX has them for meshes with axes of the type ``Explicit``, where types of arrays have shardings.
Here the compiler divides arrays along all axes, led by what programs say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core import device_put
from bindax_core.extend import wraps
from bindax_transforms._callables import check_function


def reshard(xs: Any, out_shardings: Any) -> Any:
    """Lay the arrays of a tree on devices in another way; their values stay the same.

    Args:
        xs: an array, or a tree of arrays.
        out_shardings: a ``Sharding``, or a ``PartitionSpec`` on the mesh that is set, or a tree of
            those that begins as ``xs`` does.

    Raises:
        ValueError: when an array cannot be divided so, or no mesh is set for a spec.

    >>> import numpy as np
    >>> from bindax_core.sharding import P, make_mesh, set_mesh
    >>> with set_mesh(make_mesh((1,), ("x",))):
    ...     reshard(np.ones(2), P("x"))
    Array([1., 1.], dtype=float64)
    """
    return device_put(xs, out_shardings)


def auto_axes(
    f: Callable[..., Any] | None = None, /, *, axes: Any = None, out_sharding: Any = None
) -> Callable[..., Any]:
    """A function in which the compiler decides how arrays are divided.

    It does so everywhere; what is left is how the results lie.

    Args:
        f: the function; when omitted, a decorator is returned.
        axes: the axes of the mesh that this is about; all are divided so.
        out_sharding: how the results lie, as for ``reshard``. The keyword ``out_sharding`` of a
            call comes first.

    >>> import numpy as np
    >>> auto_axes(lambda x: x * 2)(np.ones(2))
    array([2., 2.])
    """
    if f is None:
        return lambda f: auto_axes(f, axes=axes, out_sharding=out_sharding)
    check_function("auto_axes", "f", f)
    function, usual = f, out_sharding

    @wraps(function)
    def laid(*args: Any, out_sharding: Any = None, **kwargs: Any) -> Any:
        target = usual if out_sharding is None else out_sharding
        outs = function(*args, **kwargs)
        return outs if target is None else reshard(outs, target)

    return laid


def explicit_axes(
    f: Callable[..., Any] | None = None, /, *, axes: Any = None, in_sharding: Any = None
) -> Callable[..., Any]:
    """A function whose arguments lie as is said explicitly.

    Args:
        f: the function; when omitted, a decorator is returned.
        axes: the axes of the mesh that this is about; all are divided so.
        in_sharding: how the arguments lie: one for all, or a tuple with one for each, as for
            ``reshard``. The keyword ``in_sharding`` of a call comes first.

    >>> import numpy as np
    >>> explicit_axes(lambda x: x * 2)(np.ones(2))
    array([2., 2.])
    """
    if f is None:
        return lambda f: explicit_axes(f, axes=axes, in_sharding=in_sharding)
    check_function("explicit_axes", "f", f)
    function, usual = f, in_sharding

    @wraps(function)
    def laid(*args: Any, in_sharding: Any = None, **kwargs: Any) -> Any:
        target = usual if in_sharding is None else in_sharding
        return function(*(args if target is None else reshard(args, target)), **kwargs)

    return laid
