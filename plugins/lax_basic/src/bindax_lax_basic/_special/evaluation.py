"""The algorithms on NumPy arrays of any float dtype: what ``impl`` rules run."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from bindax_lax_basic._special import bessel, error, gamma, incomplete_beta, incomplete_gamma
from bindax_lax_basic._special import polygamma as polygamma_function
from bindax_lax_basic._special import zeta as zeta_function
from bindax_lax_basic._special.functions import Functions, in_double, numpy_loop

NUMPY = Functions(
    exp=np.exp,
    expm1=np.expm1,
    log=np.log,
    log1p=np.log1p,
    sqrt=np.sqrt,
    abs=np.abs,
    floor=np.floor,
    erfc=error.erfc,
    digamma=gamma.digamma,
    where=np.where,
    loop=numpy_loop,
)
"""NumPy's functions, and those of this package that they lack."""


def _by_numpy(function: Any) -> Any:
    for_type = cache(lambda dtype: in_double(partial(function, NUMPY.rounded_to(dtype))))
    return lambda *arrays: for_type(arrays[0].dtype)(*arrays)


erf = in_double(error.erf)
erfc = in_double(error.erfc)
erf_inv = in_double(error.erf_inv)
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
