"""The settings of modules: the mode of what says none."""

from __future__ import annotations

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
