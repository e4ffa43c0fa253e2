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
Variable( # 1 (4 B)
  value=Array(1, dtype=int32)
)
"""

import bindax_nnx.pytrees as _pytrees  # noqa: F401 -- makes objects pytrees
from bindax_core.extend import former_modules as _former_modules
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_nn import celu as celu
from bindax_nn import elu as elu
from bindax_nn import gelu as gelu
from bindax_nn import glu as glu
from bindax_nn import hard_sigmoid as hard_sigmoid
from bindax_nn import hard_silu as hard_silu
from bindax_nn import hard_swish as hard_swish
from bindax_nn import hard_tanh as hard_tanh
from bindax_nn import leaky_relu as leaky_relu
from bindax_nn import log_sigmoid as log_sigmoid
from bindax_nn import log_softmax as log_softmax
from bindax_nn import logsumexp as logsumexp
from bindax_nn import one_hot as one_hot
from bindax_nn import relu as relu
from bindax_nn import relu6 as relu6
from bindax_nn import selu as selu
from bindax_nn import sigmoid as sigmoid
from bindax_nn import silu as silu
from bindax_nn import soft_sign as soft_sign
from bindax_nn import softmax as softmax
from bindax_nn import softplus as softplus
from bindax_nn import standardize as standardize
from bindax_nn import swish as swish
from bindax_nn import tanh as tanh
from bindax_nnx import compat as compat
from bindax_nnx import initializers as initializers
from bindax_nnx import metrics as metrics
from bindax_nnx import traversals as traversals
from bindax_nnx.abstract_models import as_abstract as as_abstract
from bindax_nnx.abstract_models import get_abstract_model as get_abstract_model
from bindax_nnx.annotations import Data as Data
from bindax_nnx.annotations import Static as Static
from bindax_nnx.annotations import data as data
from bindax_nnx.annotations import dataclass as dataclass
from bindax_nnx.annotations import identity as identity
from bindax_nnx.annotations import static as static
from bindax_nnx.annotations import with_metadata as with_metadata
from bindax_nnx.annotations import with_partitioning as with_partitioning
from bindax_nnx.captures import capture as capture
from bindax_nnx.checkpoint import load as load
from bindax_nnx.checkpoint import save as save
from bindax_nnx.containers import Dict as Dict
from bindax_nnx.containers import List as List
from bindax_nnx.copies_with_changes import as_pure as as_pure
from bindax_nnx.copies_with_changes import map as map
from bindax_nnx.copies_with_changes import pure as pure
from bindax_nnx.copies_with_changes import set_metadata as set_metadata
from bindax_nnx.copies_with_changes import vars_as as vars_as
from bindax_nnx.copies_with_changes import with_attributes as with_attributes
from bindax_nnx.copies_with_changes import with_vars as with_vars
from bindax_nnx.duplicates import find_duplicates as find_duplicates
from bindax_nnx.eager_sharding import get_logical_axis_rules as get_logical_axis_rules
from bindax_nnx.eager_sharding import logical_axis_rules as logical_axis_rules
from bindax_nnx.eager_sharding import set_logical_axis_rules as set_logical_axis_rules
from bindax_nnx.eager_sharding import use_eager_sharding as use_eager_sharding
from bindax_nnx.eager_sharding import using_eager_sharding as using_eager_sharding
from bindax_nnx.ema import EMA as EMA
from bindax_nnx.errors import AliasingError as AliasingError
from bindax_nnx.errors import CheckpointError as CheckpointError
from bindax_nnx.errors import GraphError as GraphError
from bindax_nnx.errors import TraceContextError as TraceContextError
from bindax_nnx.external_nodes import GraphNodeDefinition as GraphNodeDefinition
from bindax_nnx.external_nodes import register_graph_node as register_graph_node
from bindax_nnx.filters import All as All
from bindax_nnx.filters import Any as Any
from bindax_nnx.filters import Everything as Everything
from bindax_nnx.filters import Not as Not
from bindax_nnx.filters import Nothing as Nothing
from bindax_nnx.filters import OfType as OfType
from bindax_nnx.filters import PathContains as PathContains
from bindax_nnx.filters import PathIn as PathIn
from bindax_nnx.filters import WithTag as WithTag
from bindax_nnx.filters import to_predicate as to_predicate
from bindax_nnx.flat_state import FlatState as FlatState
from bindax_nnx.flat_state import flatten as flatten
from bindax_nnx.flat_state import to_flat_state as to_flat_state
from bindax_nnx.flat_state import unflatten as unflatten
from bindax_nnx.graph_state import GraphState as GraphState
from bindax_nnx.graph_state import unpack as unpack
from bindax_nnx.layers.activations import PReLU as PReLU
from bindax_nnx.layers.attention import MultiHeadAttention as MultiHeadAttention
from bindax_nnx.layers.attention import dot_product_attention as dot_product_attention
from bindax_nnx.layers.cells import GRUCell as GRUCell
from bindax_nnx.layers.cells import LSTMCell as LSTMCell
from bindax_nnx.layers.cells import OptimizedLSTMCell as OptimizedLSTMCell
from bindax_nnx.layers.cells import RNNCell as RNNCell
from bindax_nnx.layers.cells import RNNCellBase as RNNCellBase
from bindax_nnx.layers.cells import SimpleCell as SimpleCell
from bindax_nnx.layers.convolution import Conv as Conv
from bindax_nnx.layers.convolution import ConvTranspose as ConvTranspose
from bindax_nnx.layers.dropout import Dropout as Dropout
from bindax_nnx.layers.linear import Einsum as Einsum
from bindax_nnx.layers.linear import Embed as Embed
from bindax_nnx.layers.linear import Linear as Linear
from bindax_nnx.layers.linear import LinearGeneral as LinearGeneral
from bindax_nnx.layers.lora import LoRA as LoRA
from bindax_nnx.layers.lora import LoRALinear as LoRALinear
from bindax_nnx.layers.lora import LoRAParam as LoRAParam
from bindax_nnx.layers.masks import combine_masks as combine_masks
from bindax_nnx.layers.masks import make_attention_mask as make_attention_mask
from bindax_nnx.layers.masks import make_causal_mask as make_causal_mask
from bindax_nnx.layers.normalization import BatchNorm as BatchNorm
from bindax_nnx.layers.normalization import GroupNorm as GroupNorm
from bindax_nnx.layers.normalization import InstanceNorm as InstanceNorm
from bindax_nnx.layers.normalization import LayerNorm as LayerNorm
from bindax_nnx.layers.normalization import RMSNorm as RMSNorm
from bindax_nnx.layers.pooling import avg_pool as avg_pool
from bindax_nnx.layers.pooling import max_pool as max_pool
from bindax_nnx.layers.pooling import min_pool as min_pool
from bindax_nnx.layers.recurrent import RNN as RNN
from bindax_nnx.layers.recurrent import Bidirectional as Bidirectional
from bindax_nnx.layers.recurrent import flip_sequences as flip_sequences
from bindax_nnx.layers.rotary import RoPE as RoPE
from bindax_nnx.layers.rotary import (
    dot_product_attention_with_rope as dot_product_attention_with_rope,
)
from bindax_nnx.layers.sequential import Sequential as Sequential
from bindax_nnx.layers.weight_norm import SpectralNorm as SpectralNorm
from bindax_nnx.layers.weight_norm import WeightNorm as WeightNorm
from bindax_nnx.lift.axes import Carry as Carry
from bindax_nnx.lift.axes import StateAxes as StateAxes
from bindax_nnx.lift.axes import StateSharding as StateSharding
from bindax_nnx.lift.call import lift as lift
from bindax_nnx.lift.checkify import checkify as checkify
from bindax_nnx.lift.control_flow import cond as cond
from bindax_nnx.lift.control_flow import fori_loop as fori_loop
from bindax_nnx.lift.control_flow import switch as switch
from bindax_nnx.lift.control_flow import while_loop as while_loop
from bindax_nnx.lift.custom_vjp import custom_vjp as custom_vjp
from bindax_nnx.lift.gradient import DiffState as DiffState
from bindax_nnx.lift.gradient import grad as grad
from bindax_nnx.lift.gradient import value_and_grad as value_and_grad
from bindax_nnx.lift.jit import jit as jit
from bindax_nnx.lift.jit import jit_partial as jit_partial
from bindax_nnx.lift.jvp_vjp import jvp as jvp
from bindax_nnx.lift.jvp_vjp import vjp as vjp
from bindax_nnx.lift.pmap import pmap as pmap
from bindax_nnx.lift.prefixes import prefix as prefix
from bindax_nnx.lift.remat_eval_shape import eval_shape as eval_shape
from bindax_nnx.lift.remat_eval_shape import make_jaxpr as make_jaxpr
from bindax_nnx.lift.remat_eval_shape import remat as remat
from bindax_nnx.lift.scan import scan as scan
from bindax_nnx.lift.sharding import shard_map as shard_map
from bindax_nnx.lift.transform_metadata import transform_metadata as transform_metadata
from bindax_nnx.lift.vmap import vmap as vmap
from bindax_nnx.metrics import Accuracy as Accuracy
from bindax_nnx.metrics import Average as Average
from bindax_nnx.metrics import Metric as Metric
from bindax_nnx.metrics import MetricState as MetricState
from bindax_nnx.metrics import MultiMetric as MultiMetric
from bindax_nnx.metrics import Statistics as Statistics
from bindax_nnx.metrics import Welford as Welford
from bindax_nnx.modes import set_graph_mode as set_graph_mode
from bindax_nnx.modes import set_graph_updates as set_graph_updates
from bindax_nnx.module import Module as Module
from bindax_nnx.module import eval_mode as eval_mode
from bindax_nnx.module import iter_children as iter_children
from bindax_nnx.module import iter_module_children as iter_module_children
from bindax_nnx.module import iter_modules as iter_modules
from bindax_nnx.module import train_mode as train_mode
from bindax_nnx.module import view as view
from bindax_nnx.object import Object as Object
from bindax_nnx.object import Pytree as Pytree
from bindax_nnx.object import check_pytree as check_pytree
from bindax_nnx.object import has_data as has_data
from bindax_nnx.object import is_data as is_data
from bindax_nnx.object import register_data_type as register_data_type
from bindax_nnx.optimizer import ModelAndOptimizer as ModelAndOptimizer
from bindax_nnx.optimizer import OptArray as OptArray
from bindax_nnx.optimizer import Optimizer as Optimizer
from bindax_nnx.optimizer import OptState as OptState
from bindax_nnx.optimizer import OptVariable as OptVariable
from bindax_nnx.partial_calls import cached_partial as cached_partial
from bindax_nnx.partition_specs import get_named_sharding as get_named_sharding
from bindax_nnx.partition_specs import get_partition_spec as get_partition_spec
from bindax_nnx.pure_calls import PureState as PureState
from bindax_nnx.pure_calls import call as call
from bindax_nnx.pure_trees import NodeStates as NodeStates
from bindax_nnx.pure_trees import from_tree as from_tree
from bindax_nnx.pure_trees import to_tree as to_tree
from bindax_nnx.recursion import iter_graph as iter_graph
from bindax_nnx.recursion import recursive_map as recursive_map
from bindax_nnx.reference_variables import var_defaults as var_defaults
from bindax_nnx.rng_changes import backup_keys as backup_keys
from bindax_nnx.rng_changes import fork_rngs as fork_rngs
from bindax_nnx.rng_changes import reseed as reseed
from bindax_nnx.rng_changes import restore_rngs as restore_rngs
from bindax_nnx.rng_changes import split_rngs as split_rngs
from bindax_nnx.rng_changes import with_rngs as with_rngs
from bindax_nnx.rngs import RngCount as RngCount
from bindax_nnx.rngs import RngKey as RngKey
from bindax_nnx.rngs import Rngs as Rngs
from bindax_nnx.rngs import RngState as RngState
from bindax_nnx.rngs import RngStream as RngStream
from bindax_nnx.safetensors import load_safetensors as load_safetensors
from bindax_nnx.safetensors import save_safetensors as save_safetensors
from bindax_nnx.split_merge import GraphDef as GraphDef
from bindax_nnx.split_merge import clone as clone
from bindax_nnx.split_merge import graphdef as graphdef
from bindax_nnx.split_merge import merge as merge
from bindax_nnx.split_merge import pop as pop
from bindax_nnx.split_merge import split as split
from bindax_nnx.split_merge import state as state
from bindax_nnx.split_merge import update as update
from bindax_nnx.split_merge import variables as variables
from bindax_nnx.state import State as State
from bindax_nnx.state import filter_state as filter_state
from bindax_nnx.state import from_flat_state as from_flat_state
from bindax_nnx.state import map_state as map_state
from bindax_nnx.state import merge_state as merge_state
from bindax_nnx.state import replace_by_pure_dict as replace_by_pure_dict
from bindax_nnx.state import split_state as split_state
from bindax_nnx.state import to_pure_dict as to_pure_dict
from bindax_nnx.tabulate import tabulate as tabulate
from bindax_nnx.train_state import TrainState as TrainState
from bindax_nnx.update_contexts import MergeContext as MergeContext
from bindax_nnx.update_contexts import SplitContext as SplitContext
from bindax_nnx.update_contexts import merge_context as merge_context
from bindax_nnx.update_contexts import split_context as split_context
from bindax_nnx.update_contexts import update_context as update_context
from bindax_nnx.variables import PARTITION_NAME as PARTITION_NAME
from bindax_nnx.variables import A as A
from bindax_nnx.variables import BatchStat as BatchStat
from bindax_nnx.variables import Cache as Cache
from bindax_nnx.variables import Intermediate as Intermediate
from bindax_nnx.variables import Param as Param
from bindax_nnx.variables import Perturbation as Perturbation
from bindax_nnx.variables import Variable as Variable
from bindax_nnx.variables import VariableMetadata as VariableMetadata
from bindax_nnx.views import view_info as view_info
from bindax_text import display as display

vars()["__all__"] = [*_public_names(vars()), "compat", "initializers", "metrics", "traversals"]

_register_internal(__file__)
_former_modules(
    __name__,
    {
        "averages": "ema",
        "build": "unflatten",
        "copies": "copies_with_changes",
        "foreign": "external_nodes",
        "functional": "split_merge",
        "layers.stochastic": "layers.dropout",
        "layers.weights": "layers.weight_norm",
        "lift.derivatives": "lift.jvp_vjp",
        "lift.plan": "lift.cached_structure",
        "lift.shapes": "lift.remat_eval_shape",
        "shards": "sharded_checkpoint",
    },
)
