"""Modules with reference semantics: Python objects with state through every transformation.

>>> import numpy as np
>>> import bindax_nnx as nnx
>>> class Counter(nnx.Module):
...     def __init__(self):
...         self.count = nnx.Variable(np.int32(0))
>>> @nnx.jit
... def increment(counter):
...     counter.count += 1
>>> counter = Counter()
>>> increment(counter)
>>> counter.count
Variable(
  value=Array(1, dtype=int32)
)
"""

from bindax_core.extend import register_internal
from bindax_nnx.display import display
from bindax_nnx.errors import AliasingError, CheckpointError, GraphError, TraceContextError
from bindax_nnx.filters import (
    All,
    Any,
    Everything,
    Not,
    Nothing,
    OfType,
    PathContains,
    PathIn,
    WithTag,
    to_predicate,
)
from bindax_nnx.foreign import GraphNodeDefinition, register_graph_node
from bindax_nnx.functional import (
    GraphDef,
    clone,
    find_duplicates,
    graphdef,
    merge,
    pop,
    replace_by_pure_dict,
    split,
    state,
    to_pure_dict,
    update,
    variables,
)
from bindax_nnx.graph import iter_graph
from bindax_nnx.lift._call import lift
from bindax_nnx.lift.axes import Carry, StateAxes, StateSharding
from bindax_nnx.lift.control_flow import cond, fori_loop, switch, while_loop
from bindax_nnx.lift.custom_vjp import custom_vjp
from bindax_nnx.lift.derivatives import jvp, vjp
from bindax_nnx.lift.gradient import DiffState, grad, value_and_grad
from bindax_nnx.lift.jit import jit
from bindax_nnx.lift.scan import scan
from bindax_nnx.lift.shapes import eval_shape, make_jaxpr, remat
from bindax_nnx.lift.vmap import vmap
from bindax_nnx.module import Module, eval_mode, iter_children, iter_modules, train_mode, view
from bindax_nnx.object import Dict, List, Object, Pytree
from bindax_nnx.rngs import (
    RngCount,
    RngKey,
    Rngs,
    RngState,
    RngStream,
    reseed,
    restore_rngs,
    split_rngs,
)
from bindax_nnx.state import State
from bindax_nnx.variables import (
    PARTITION_NAME,
    BatchStat,
    Cache,
    Intermediate,
    Param,
    Perturbation,
    Variable,
    VariableMetadata,
    with_metadata,
    with_partitioning,
)

__all__ = [
    "PARTITION_NAME",
    "AliasingError",
    "All",
    "Any",
    "BatchStat",
    "Cache",
    "Carry",
    "CheckpointError",
    "Dict",
    "DiffState",
    "Everything",
    "GraphDef",
    "GraphError",
    "GraphNodeDefinition",
    "Intermediate",
    "List",
    "Module",
    "Not",
    "Nothing",
    "Object",
    "OfType",
    "Param",
    "PathContains",
    "PathIn",
    "Perturbation",
    "Pytree",
    "RngCount",
    "RngKey",
    "RngState",
    "RngStream",
    "Rngs",
    "State",
    "StateAxes",
    "StateSharding",
    "TraceContextError",
    "Variable",
    "VariableMetadata",
    "WithTag",
    "clone",
    "cond",
    "custom_vjp",
    "display",
    "eval_mode",
    "eval_shape",
    "find_duplicates",
    "fori_loop",
    "grad",
    "graphdef",
    "iter_children",
    "iter_graph",
    "iter_modules",
    "jit",
    "jvp",
    "lift",
    "make_jaxpr",
    "merge",
    "pop",
    "register_graph_node",
    "remat",
    "replace_by_pure_dict",
    "reseed",
    "restore_rngs",
    "scan",
    "split",
    "split_rngs",
    "state",
    "switch",
    "to_predicate",
    "to_pure_dict",
    "train_mode",
    "update",
    "value_and_grad",
    "variables",
    "view",
    "vjp",
    "vmap",
    "while_loop",
    "with_metadata",
    "with_partitioning",
]

register_internal(__file__)
