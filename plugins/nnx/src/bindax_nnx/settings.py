"""The settings of modules: the mode of what says none, and how variables are divided."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Setting

nnx_graph_mode: Setting = Setting(
    "nnx_graph_mode",
    True,
    "objects of ``bindax.nnx`` may share variables; otherwise they are trees, and sharing an error",
    traced=True,
)
nnx_graph_updates: Setting = Setting(
    "nnx_graph_updates",
    True,
    """all changes of objects come out of the transformations of ``bindax.nnx``; otherwise the
    values and metadata of variables alone""",
    traced=True,
)
nnx_sow_capture_noop: Setting = Setting(
    "nnx_sow_capture_noop",
    False,
    """``sow`` and ``perturb`` of modules of ``bindax.nnx`` record inside of ``capture`` alone;
    otherwise they make attributes outside of it""",
    traced=True,
)
nnx_eager_sharding: Setting = Setting(
    "nnx_eager_sharding",
    True,
    """variables of ``bindax.nnx`` with the metadata ``out_sharding`` are divided over the devices
    of the mesh when they are made""",
    traced=True,
)
nnx_variable_ref: Setting = Setting(
    "nnx_variable_ref",
    False,
    """new variables of ``bindax.nnx`` hold their values in mutable arrays, which functions that are
    transformed by other means than ``bindax.nnx`` change, too""",
    traced=True,
)


def _checked_rules(value: Any) -> tuple[tuple[Any, Any], ...]:
    pairs: Any = value if isinstance(value, list | tuple) else [None]
    if not all(isinstance(x, list | tuple) and len(x) == 2 and type(x[0]) is str for x in pairs):
        raise ValueError("pairs of a logical name and the name of a mesh axis")
    rules = tuple([(name, tuple(x) if isinstance(x, list) else x) for name, x in pairs])
    return value if rules == value else rules


nnx_logical_axis_rules: Setting = Setting(
    "nnx_logical_axis_rules",
    (),
    "pairs of a name in the sharding metadata of variables and the mesh axis it stands for",
    check=_checked_rules,
    traced=True,
    variables=(),
)
