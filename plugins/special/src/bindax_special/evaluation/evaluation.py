"""The algorithms on NumPy arrays of any float dtype: what ``impl`` rules run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from bindax_core.extend import rules
from bindax_lax_basic import erfc_p
from bindax_lax_basic.extend import in_double
from bindax_special.evaluation import gamma
from bindax_special.evaluation.functions import Functions, State


def _loop(condition: Callable[..., Any], body: Callable[..., State], state: State) -> State:
    while np.any(condition(*state)):
        state = body(*state)
    return state


NUMPY = Functions(
    exp=np.exp,
    expm1=np.expm1,
    log=np.log,
    log1p=np.log1p,
    sqrt=np.sqrt,
    abs=np.abs,
    floor=np.floor,
    erfc=rules.impl.get(erfc_p),
    digamma=gamma.digamma,
    where=np.where,
    loop=_loop,
)
"""NumPy's functions, and those of this package that they lack."""


def by_numpy(function: Any) -> Any:
    """An algorithm on NumPy arrays of any float dtype, as precise as the dtype needs."""
    for_type = cache(lambda dtype: in_double(partial(function, NUMPY.rounded_to(dtype))))
    return lambda *arrays: for_type(arrays[0].dtype)(*arrays)
