"""Special functions, with JAX's names and semantics; public as ``bindax.scipy.special``.

>>> import bindax_numpy as jnp
>>> from bindax_scipy import special
>>> special.expit(jnp.array([0.0]))
Array([0.5], dtype=float32)
"""

from bindax_core.extend import public_names as _public_names
from bindax_nn import logsumexp as logsumexp
from bindax_scipy.special.bessel import bessel_jn as bessel_jn
from bindax_scipy.special.bessel import i0 as i0
from bindax_scipy.special.bessel import i0e as i0e
from bindax_scipy.special.bessel import i1 as i1
from bindax_scipy.special.bessel import i1e as i1e
from bindax_scipy.special.beta_functions import beta as beta
from bindax_scipy.special.beta_functions import betainc as betainc
from bindax_scipy.special.beta_functions import betaln as betaln
from bindax_scipy.special.beta_functions import comb as comb
from bindax_scipy.special.beta_functions import poch as poch
from bindax_scipy.special.error_functions import dawsn as dawsn
from bindax_scipy.special.error_functions import erf as erf
from bindax_scipy.special.error_functions import erfc as erfc
from bindax_scipy.special.error_functions import erfcinv as erfcinv
from bindax_scipy.special.error_functions import erfcx as erfcx
from bindax_scipy.special.error_functions import erfinv as erfinv
from bindax_scipy.special.error_functions import fresnel as fresnel
from bindax_scipy.special.error_functions import log_ndtr as log_ndtr
from bindax_scipy.special.error_functions import ndtr as ndtr
from bindax_scipy.special.error_functions import ndtri as ndtri
from bindax_scipy.special.error_functions import owens_t as owens_t
from bindax_scipy.special.error_functions import wofz as wofz
from bindax_scipy.special.exponential_integrals import exp1 as exp1
from bindax_scipy.special.exponential_integrals import expi as expi
from bindax_scipy.special.exponential_integrals import expn as expn
from bindax_scipy.special.exponential_integrals import sici as sici
from bindax_scipy.special.exponential_integrals import spence as spence
from bindax_scipy.special.gamma_functions import bernoulli as bernoulli
from bindax_scipy.special.gamma_functions import digamma as digamma
from bindax_scipy.special.gamma_functions import factorial as factorial
from bindax_scipy.special.gamma_functions import gamma as gamma
from bindax_scipy.special.gamma_functions import gammainc as gammainc
from bindax_scipy.special.gamma_functions import gammaincc as gammaincc
from bindax_scipy.special.gamma_functions import gammaln as gammaln
from bindax_scipy.special.gamma_functions import gammasgn as gammasgn
from bindax_scipy.special.gamma_functions import loggamma as loggamma
from bindax_scipy.special.gamma_functions import multigammaln as multigammaln
from bindax_scipy.special.gamma_functions import polygamma as polygamma
from bindax_scipy.special.gamma_functions import zeta as zeta
from bindax_scipy.special.hypergeometric import hyp1f1 as hyp1f1
from bindax_scipy.special.hypergeometric import hyp2f1 as hyp2f1
from bindax_scipy.special.spherical import sph_harm_y as sph_harm_y
from bindax_scipy.special.xlogy_softmax import boxcox as boxcox
from bindax_scipy.special.xlogy_softmax import boxcox1p as boxcox1p
from bindax_scipy.special.xlogy_softmax import entr as entr
from bindax_scipy.special.xlogy_softmax import expit as expit
from bindax_scipy.special.xlogy_softmax import kl_div as kl_div
from bindax_scipy.special.xlogy_softmax import log_softmax as log_softmax
from bindax_scipy.special.xlogy_softmax import logit as logit
from bindax_scipy.special.xlogy_softmax import rel_entr as rel_entr
from bindax_scipy.special.xlogy_softmax import softmax as softmax
from bindax_scipy.special.xlogy_softmax import xlog1py as xlog1py
from bindax_scipy.special.xlogy_softmax import xlogy as xlogy

vars()["__all__"] = _public_names(vars())
