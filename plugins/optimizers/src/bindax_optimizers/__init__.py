"""Optimizers: pairs of functions that turn gradients into updates of parameters.

>>> import numpy as np
>>> import bindax_optimizers as optimizers
>>> optimizer = optimizers.adam(0.1)
>>> params = {"w": np.ones(2, np.float32)}
>>> state = optimizer.init(params)
>>> updates, state = optimizer.update({"w": np.full(2, 3, np.float32)}, state, params)
>>> optimizers.apply_updates(params, updates)["w"].round(3)
Array([0.9, 0.9], dtype=float32)
"""

from bindax_core.extend import former_modules as _former_modules
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_optimizers import contrib as contrib
from bindax_optimizers import losses as losses
from bindax_optimizers import projections as projections
from bindax_optimizers import schedules as schedules
from bindax_optimizers import transforms as transforms
from bindax_optimizers import tree as tree
from bindax_optimizers import tree_utils as tree_utils
from bindax_optimizers.accumulation import *
from bindax_optimizers.adafactor import *
from bindax_optimizers.adam_optimizers import *
from bindax_optimizers.adaptive_momenta import *
from bindax_optimizers.adaptive_moments import *
from bindax_optimizers.adaptive_optimizers import *
from bindax_optimizers.averaged_optimizers import *
from bindax_optimizers.clipping import *
from bindax_optimizers.conditional import *
from bindax_optimizers.factored import *
from bindax_optimizers.former_states import install as _install_former_states
from bindax_optimizers.gradient_transformations import *
from bindax_optimizers.hyperparameters import *
from bindax_optimizers.lbfgs import *
from bindax_optimizers.linesearch import *
from bindax_optimizers.losses import *
from bindax_optimizers.moment_names import *
from bindax_optimizers.monitoring import *
from bindax_optimizers.muon import *
from bindax_optimizers.numerics import *
from bindax_optimizers.optimizers import *
from bindax_optimizers.partial_optimizers import *
from bindax_optimizers.schedules import *
from bindax_optimizers.squared_gradients import *
from bindax_optimizers.transformation import *
from bindax_optimizers.zoom_linesearch import *

vars()["__all__"] = [
    *_public_names(vars()),
    *("contrib", "losses", "projections", "schedules", "transforms", "tree", "tree_utils"),
]

_register_internal(__file__)
_former_modules(__name__, {"parts": "gradient_transformations"})
_install_former_states()
