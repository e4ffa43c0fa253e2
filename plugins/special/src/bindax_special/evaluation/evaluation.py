"""The algorithms on NumPy arrays of any float dtype: what ``impl`` rules run."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from bindax_core.extend import rules
from bindax_lax_basic import erfc_p
from bindax_lax_basic.extend import in_double
from bindax_special.evaluation import bessel, gamma, incomplete_beta, incomplete_gamma
from bindax_special.evaluation import polygamma as polygamma_function
from bindax_special.evaluation import zeta as zeta_function
from bindax_special.evaluation.functions import Functions, numpy_loop

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
    loop=numpy_loop,
)
"""NumPy's functions, and those of this package that they lack."""


def _by_numpy(function: Any) -> Any:
    for_type = cache(lambda dtype: in_double(partial(function, NUMPY.rounded_to(dtype))))
    return lambda *arrays: for_type(arrays[0].dtype)(*arrays)


lgamma = in_double(gamma.lgamma)
digamma = in_double(gamma.digamma)
zeta = _by_numpy(zeta_function.zeta)
polygamma = _by_numpy(polygamma_function.polygamma)
igamma = _by_numpy(incomplete_gamma.lower)
igammac = _by_numpy(incomplete_gamma.upper)
igamma_grad_a = _by_numpy(incomplete_gamma.lower_slope)
random_gamma_grad = _by_numpy(incomplete_gamma.sample_slope)
betainc = _by_numpy(incomplete_beta.incomplete_beta)
bessel_i0e = _by_numpy(lambda f, x: bessel.scaled_bessel(f, 0, x))
bessel_i1e = _by_numpy(lambda f, x: np.copysign(bessel.scaled_bessel(f, 1, x), x))
