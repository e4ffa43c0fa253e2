"""Functions of neural networks: activations, attention, scaled products, initializers.

>>> import bindax.numpy as jnp
>>> from bindax import nn
>>> nn.relu(jnp.array([-1.0, 2.0]))
Array([0., 2.], dtype=float32)
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from bindax_core.extend import missing_attribute as _missing_attribute
from bindax_core.extend import public_names as _public_names
from bindax_nn import *  # noqa: F403 -- everything there is public

vars()["__all__"] = [*_public_names(vars()), "initializers"]

if _TYPE_CHECKING:
    from bindax.nn import initializers as initializers


def __getattr__(name: str) -> _Any:
    if name == "initializers":
        return _import_module("bindax.nn.initializers")
    raise _missing_attribute(__name__, name, [*globals(), "initializers"])
