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
from bindax_nn import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    initializers,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    logsumexp,
    one_hot,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softmax,
    softplus,
    standardize,
    swish,
    tanh,
)
from bindax_nnx import metrics
from bindax_nnx.annotations import Data, Static, dataclass, identity, is_data, static
from bindax_nnx.averages import EMA
from bindax_nnx.checkpoint import load, save
from bindax_nnx.copies import as_pure, map, pure, recursive_map, set_metadata, with_attributes
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
    cached_partial,
    clone,
    data,
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
from bindax_nnx.layers.activations import PReLU
from bindax_nnx.layers.attention import (
    MultiHeadAttention,
    combine_masks,
    dot_product_attention,
    make_attention_mask,
    make_causal_mask,
)
from bindax_nnx.layers.convolution import Conv, ConvTranspose
from bindax_nnx.layers.linear import Einsum, Embed, Linear, LinearGeneral
from bindax_nnx.layers.lora import LoRA, LoRALinear, LoRAParam
from bindax_nnx.layers.normalization import (
    BatchNorm,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    RMSNorm,
)
from bindax_nnx.layers.pooling import avg_pool, max_pool, min_pool
from bindax_nnx.layers.recurrent import (
    RNN,
    Bidirectional,
    GRUCell,
    LSTMCell,
    OptimizedLSTMCell,
    RNNCell,
    RNNCellBase,
    SimpleCell,
    flip_sequences,
)
from bindax_nnx.layers.sequential import Sequential
from bindax_nnx.layers.stochastic import Dropout
from bindax_nnx.layers.weights import SpectralNorm, WeightNorm
from bindax_nnx.lift.axes import Carry, StateAxes, StateSharding
from bindax_nnx.lift.call import lift
from bindax_nnx.lift.control_flow import cond, fori_loop, switch, while_loop
from bindax_nnx.lift.custom_vjp import custom_vjp
from bindax_nnx.lift.derivatives import jvp, vjp
from bindax_nnx.lift.gradient import DiffState, grad, value_and_grad
from bindax_nnx.lift.jit import jit, jit_partial
from bindax_nnx.lift.pmap import pmap
from bindax_nnx.lift.scan import scan
from bindax_nnx.lift.shapes import eval_shape, make_jaxpr, remat
from bindax_nnx.lift.sharding import get_named_sharding, get_partition_spec, shard_map
from bindax_nnx.lift.vmap import vmap
from bindax_nnx.metrics import (
    Accuracy,
    Average,
    Metric,
    MetricState,
    MultiMetric,
    Statistics,
    Welford,
)
from bindax_nnx.module import (
    Module,
    eval_mode,
    iter_children,
    iter_module_children,
    iter_modules,
    train_mode,
    view,
)
from bindax_nnx.object import Dict, List, Object, Pytree
from bindax_nnx.optimizer import (
    ModelAndOptimizer,
    OptArray,
    Optimizer,
    OptState,
    OptVariable,
)
from bindax_nnx.rngs import (
    RngCount,
    RngKey,
    Rngs,
    RngState,
    RngStream,
    fork_rngs,
    reseed,
    restore_rngs,
    split_rngs,
)
from bindax_nnx.safetensors import load_safetensors, save_safetensors
from bindax_nnx.state import (
    State,
    filter_state,
    from_flat_state,
    map_state,
    merge_state,
    split_state,
    to_flat_state,
)
from bindax_nnx.tabulate import tabulate
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
    "EMA",
    "PARTITION_NAME",
    "RNN",
    "Accuracy",
    "AliasingError",
    "All",
    "Any",
    "Average",
    "BatchNorm",
    "BatchStat",
    "Bidirectional",
    "Cache",
    "Carry",
    "CheckpointError",
    "Conv",
    "ConvTranspose",
    "Data",
    "Dict",
    "DiffState",
    "Dropout",
    "Einsum",
    "Embed",
    "Everything",
    "GRUCell",
    "GraphDef",
    "GraphError",
    "GraphNodeDefinition",
    "GroupNorm",
    "InstanceNorm",
    "Intermediate",
    "LSTMCell",
    "LayerNorm",
    "Linear",
    "LinearGeneral",
    "List",
    "LoRA",
    "LoRALinear",
    "LoRAParam",
    "Metric",
    "MetricState",
    "ModelAndOptimizer",
    "Module",
    "MultiHeadAttention",
    "MultiMetric",
    "Not",
    "Nothing",
    "Object",
    "OfType",
    "OptArray",
    "OptState",
    "OptVariable",
    "OptimizedLSTMCell",
    "Optimizer",
    "PReLU",
    "Param",
    "PathContains",
    "PathIn",
    "Perturbation",
    "Pytree",
    "RMSNorm",
    "RNNCell",
    "RNNCellBase",
    "RngCount",
    "RngKey",
    "RngState",
    "RngStream",
    "Rngs",
    "Sequential",
    "SimpleCell",
    "SpectralNorm",
    "State",
    "StateAxes",
    "StateSharding",
    "Static",
    "Statistics",
    "TraceContextError",
    "Variable",
    "VariableMetadata",
    "WeightNorm",
    "Welford",
    "WithTag",
    "as_pure",
    "avg_pool",
    "cached_partial",
    "celu",
    "clone",
    "combine_masks",
    "cond",
    "custom_vjp",
    "data",
    "dataclass",
    "display",
    "dot_product_attention",
    "elu",
    "eval_mode",
    "eval_shape",
    "filter_state",
    "find_duplicates",
    "flip_sequences",
    "fori_loop",
    "fork_rngs",
    "from_flat_state",
    "gelu",
    "get_named_sharding",
    "get_partition_spec",
    "glu",
    "grad",
    "graphdef",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "initializers",
    "is_data",
    "iter_children",
    "iter_graph",
    "iter_module_children",
    "iter_modules",
    "jit",
    "jit_partial",
    "jvp",
    "leaky_relu",
    "lift",
    "load",
    "load_safetensors",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "make_attention_mask",
    "make_causal_mask",
    "make_jaxpr",
    "map",
    "map_state",
    "max_pool",
    "merge",
    "merge_state",
    "metrics",
    "min_pool",
    "one_hot",
    "pmap",
    "pop",
    "pure",
    "recursive_map",
    "register_graph_node",
    "relu",
    "relu6",
    "remat",
    "replace_by_pure_dict",
    "reseed",
    "restore_rngs",
    "save",
    "save_safetensors",
    "scan",
    "selu",
    "set_metadata",
    "shard_map",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "split",
    "split_rngs",
    "split_state",
    "standardize",
    "state",
    "static",
    "swish",
    "switch",
    "tabulate",
    "tanh",
    "to_flat_state",
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
    "with_attributes",
    "with_metadata",
    "with_partitioning",
]

register_internal(__file__)
