"""Random numbers: keys as values of their own dtype, and JAX's distributions with its numbers.

>>> from bindax_random import key, normal, split
>>> first, second = split(key(0))
>>> normal(first, (2,)).round(4)
Array([ 1.004 , -0.9063], dtype=float32)
"""

from bindax_core.errors import KeyReuseError as KeyReuseError
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_random._prng import PRNG as PRNG
from bindax_random._prng import PRNGSpec as PRNGSpec
from bindax_random._prng import define_prng_impl as define_prng_impl
from bindax_random._prng import find_prng as find_prng
from bindax_random._prng import prng_key as prng_key
from bindax_random._prng import register_prng as register_prng
from bindax_random.checks import check_prng as check_prng
from bindax_random.count_numbers import binomial as binomial
from bindax_random.count_numbers import multinomial as multinomial
from bindax_random.count_numbers import poisson as poisson
from bindax_random.gamma_numbers import beta as beta
from bindax_random.gamma_numbers import chisquare as chisquare
from bindax_random.gamma_numbers import dirichlet as dirichlet
from bindax_random.gamma_numbers import f as f
from bindax_random.gamma_numbers import gamma as gamma
from bindax_random.gamma_numbers import loggamma as loggamma
from bindax_random.gamma_numbers import random_gamma_p as random_gamma_p
from bindax_random.gamma_numbers import t as t
from bindax_random.geometric_bodies import ball as ball
from bindax_random.geometric_bodies import generalized_normal as generalized_normal
from bindax_random.geometric_bodies import orthogonal as orthogonal
from bindax_random.inverted_numbers import cauchy as cauchy
from bindax_random.inverted_numbers import exponential as exponential
from bindax_random.inverted_numbers import geometric as geometric
from bindax_random.inverted_numbers import laplace as laplace
from bindax_random.inverted_numbers import logistic as logistic
from bindax_random.inverted_numbers import pareto as pareto
from bindax_random.inverted_numbers import rayleigh as rayleigh
from bindax_random.inverted_numbers import triangular as triangular
from bindax_random.inverted_numbers import weibull_min as weibull_min
from bindax_random.key_reuse import debug_key_reuse as debug_key_reuse
from bindax_random.keys import Key as Key
from bindax_random.keys import PRNGKey as PRNGKey
from bindax_random.keys import clone as clone
from bindax_random.keys import fold_in as fold_in
from bindax_random.keys import key as key
from bindax_random.keys import key_data as key_data
from bindax_random.keys import key_dtype as key_dtype
from bindax_random.keys import key_impl as key_impl
from bindax_random.keys import split as split
from bindax_random.keys import wrap_key_data as wrap_key_data
from bindax_random.normal_numbers import double_sided_maxwell as double_sided_maxwell
from bindax_random.normal_numbers import lognormal as lognormal
from bindax_random.normal_numbers import maxwell as maxwell
from bindax_random.normal_numbers import multivariate_normal as multivariate_normal
from bindax_random.normal_numbers import normal as normal
from bindax_random.normal_numbers import truncated_normal as truncated_normal
from bindax_random.normal_numbers import wald as wald
from bindax_random.sampling import categorical as categorical
from bindax_random.sampling import choice as choice
from bindax_random.sampling import gumbel as gumbel
from bindax_random.sampling import permutation as permutation
from bindax_random.uniform_numbers import bernoulli as bernoulli
from bindax_random.uniform_numbers import bits as bits
from bindax_random.uniform_numbers import rademacher as rademacher
from bindax_random.uniform_numbers import randint as randint
from bindax_random.uniform_numbers import uniform as uniform

vars()["__all__"] = _public_names(vars())

_register_internal(__file__)
