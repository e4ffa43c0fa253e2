"""Functions of neural networks, with JAX's names and semantics; public as ``bindax.nn``.

>>> import bindax_numpy as jnp
>>> import bindax_nn as nn
>>> nn.softmax(nn.relu(jnp.array([-1.0, 0.0])))
Array([0.5, 0.5], dtype=float32)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bindax_core.extend import missing_attribute as _missing_attribute
from bindax_core.extend import register_internal
from bindax_nn.activations import celu as celu
from bindax_nn.activations import elu as elu
from bindax_nn.activations import gelu as gelu
from bindax_nn.activations import glu as glu
from bindax_nn.activations import hard_sigmoid as hard_sigmoid
from bindax_nn.activations import hard_silu as hard_silu
from bindax_nn.activations import hard_swish as hard_swish
from bindax_nn.activations import hard_tanh as hard_tanh
from bindax_nn.activations import identity as identity
from bindax_nn.activations import leaky_relu as leaky_relu
from bindax_nn.activations import log1mexp as log1mexp
from bindax_nn.activations import log_sigmoid as log_sigmoid
from bindax_nn.activations import mish as mish
from bindax_nn.activations import relu as relu
from bindax_nn.activations import relu6 as relu6
from bindax_nn.activations import selu as selu
from bindax_nn.activations import sigmoid as sigmoid
from bindax_nn.activations import silu as silu
from bindax_nn.activations import soft_sign as soft_sign
from bindax_nn.activations import softplus as softplus
from bindax_nn.activations import sparse_plus as sparse_plus
from bindax_nn.activations import sparse_sigmoid as sparse_sigmoid
from bindax_nn.activations import squareplus as squareplus
from bindax_nn.activations import swish as swish
from bindax_nn.activations import tanh as tanh
from bindax_nn.attention import dot_product_attention as dot_product_attention
from bindax_nn.normalization import log_softmax as log_softmax
from bindax_nn.normalization import logmeanexp as logmeanexp
from bindax_nn.normalization import logsumexp as logsumexp
from bindax_nn.normalization import one_hot as one_hot
from bindax_nn.normalization import softmax as softmax
from bindax_nn.normalization import standardize as standardize
from bindax_nn.scaled import get_scaled_dot_general_config as get_scaled_dot_general_config
from bindax_nn.scaled import scaled_dot_general as scaled_dot_general
from bindax_nn.scaled import scaled_matmul as scaled_matmul

__all__ = [
    "celu",
    "dot_product_attention",
    "elu",
    "gelu",
    "get_scaled_dot_general_config",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "scaled_dot_general",
    "scaled_matmul",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
]

if TYPE_CHECKING:
    from bindax_nn import initializers as initializers

register_internal(__file__)


def __getattr__(name: str) -> Any:
    # Who only calls functions does not pay for random numbers.
    if name == "initializers":
        return import_module("bindax_nn.initializers")
    raise _missing_attribute("bindax.nn", name, [*globals(), "initializers"])
