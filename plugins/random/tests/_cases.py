"""Calls of random functions whose answers JAX has given, stored in ``references.npz``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """One call: ``function(key(seed, impl=impl), *args, **options)``."""

    function: str
    args: tuple[Any, ...] = ()
    options: dict[str, Any] = {}  # noqa: RUF012 -- never written to
    seed: int = 42
    impl: str = "threefry2x32"


_P = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
_LOGITS = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], np.float32))
_MATRIX = np.arange(60.0, dtype=np.float32).reshape(5, 12)
_COV = np.array([[2.0, 0.3], [0.3, 1.0]], np.float32)
_N = 200

CASES: dict[str, Case] = {
    "bits": Case("bits", ((3, 5),)),
    "bits8": Case("bits", ((7,), "uint8")),
    "bits16": Case("bits", ((7,), "uint16")),
    "uniform": Case("uniform", ((_N,),)),
    "uniform_bfloat16": Case("uniform", ((_N,), "bfloat16")),
    "uniform_float16": Case("uniform", ((_N,), "float16")),
    "uniform_bounds": Case("uniform", ((_N,), None, -3.7, 11.3)),
    "normal": Case("normal", ((_N,),)),
    "normal_bfloat16": Case("normal", ((_N,), "bfloat16")),
    "normal_complex": Case("normal", ((_N,), "complex64")),
    "truncated_normal": Case("truncated_normal", (-1.5, 0.7, (_N,))),
    "bernoulli": Case("bernoulli", (0.3, (_N,))),
    "bernoulli_high": Case("bernoulli", (_P,), {"mode": "high"}),
    "rademacher": Case("rademacher", ((_N,),)),
    "randint": Case("randint", ((_N,), -3, 1000)),
    "randint_int8": Case("randint", ((_N,), -100, 128, "int8")),
    "randint_uint8": Case("randint", ((_N,), 0, 256, "uint8")),
    "randint_uint32": Case("randint", ((_N,), 5, 2**31 - 1, "uint32")),
    "randint_empty": Case("randint", ((4,), 5, 5)),
    "permutation": Case("permutation", (100,)),
    "permutation_axis": Case("permutation", (_MATRIX,), {"axis": 1}),
    "permutation_independent": Case("permutation", (_MATRIX,), {"axis": 1, "independent": True}),
    "choice": Case("choice", (_MATRIX, (3, 2)), {"axis": 1}),
    "choice_p": Case("choice", (4, (50,)), {"p": _P}),
    "choice_once": Case("choice", (_MATRIX, (3,)), {"replace": False}),
    "choice_once_p": Case("choice", (4, (3,)), {"p": _P, "replace": False}),
    "categorical": Case("categorical", (_LOGITS,), {"shape": (20, 2)}),
    "categorical_axis": Case("categorical", (_LOGITS,), {"axis": 0}),
    "categorical_once": Case("categorical", (_LOGITS,), {"shape": (3, 2), "replace": False}),
    "gumbel": Case("gumbel", ((_N,),)),
    "gumbel_high": Case("gumbel", ((_N,),), {"mode": "high"}),
    "gumbel_highest": Case("gumbel", ((_N,),), {"mode": "highest"}),
    "exponential": Case("exponential", ((_N,),)),
    "cauchy": Case("cauchy", ((_N,),)),
    "laplace": Case("laplace", ((_N,),)),
    "logistic": Case("logistic", ((_N,),)),
    "pareto": Case("pareto", (2.5, (_N,))),
    "rayleigh": Case("rayleigh", (np.float32(1.5), (_N,))),
    "triangular": Case("triangular", (-1.0, 0.5, 2.0, (_N,))),
    "weibull_min": Case("weibull_min", (1.5, 2.5, (_N,))),
    "geometric": Case("geometric", (0.3, (_N,))),
    "lognormal": Case("lognormal", (0.7, (_N,))),
    "maxwell": Case("maxwell", ((_N,),)),
    "double_sided_maxwell": Case("double_sided_maxwell", (0.5, 2.0, (_N,))),
    "wald": Case("wald", (np.float32(1.5), (_N,))),
    "multivariate_normal": Case(
        "multivariate_normal", (np.array([1.0, -1.0], np.float32), _COV, (40,))
    ),
    "gamma": Case("gamma", (np.array([0.1, 0.7, 1.0, 3.0, 50.0], np.float32), (40, 5))),
    "loggamma": Case("loggamma", (np.array([0.1, 0.7, 1.0, 3.0, 50.0], np.float32), (40, 5))),
    "beta": Case("beta", (2.0, 0.5, (_N,))),
    "dirichlet": Case("dirichlet", (np.array([0.5, 1.0, 2.0], np.float32), (40,))),
    "chisquare": Case("chisquare", (3.0, (_N,))),
    "f": Case("f", (3.0, 5.0, (_N,))),
    "t": Case("t", (3.0, (_N,))),
    "poisson": Case("poisson", (np.array([0.0, 0.5, 4.0, 15.0, 1000.0], np.float32), (40, 5))),
    "binomial": Case(
        "binomial", (np.array([5.0, 30.0, 1000.0], np.float32), np.float32(0.3), (60, 3))
    ),
    "multinomial": Case("multinomial", (np.float32(50), _P)),
    "orthogonal": Case("orthogonal", (3,), {"shape": (2,), "m": 5}),
    "generalized_normal": Case("generalized_normal", (3.0, (_N,))),
    "ball": Case("ball", (3,), {"p": 1.5, "shape": (60,)}),
    "rbg_bits": Case("bits", ((6, 3),), impl="rbg"),
    "rbg_normal": Case("normal", ((_N,),), impl="rbg"),
    "rbg_randint": Case("randint", ((_N,), 0, 77), impl="rbg"),
    "unsafe_rbg_bits": Case("bits", ((6, 3),), impl="unsafe_rbg"),
    **{
        f"{impl}_{function}": Case(function, (shape, *rest), impl=impl)
        for impl in ("philox2x32", "philox4x32", "threefry4x32")
        for function, shape, *rest in (("bits", (6, 3), "uint8"), ("normal", (_N,)))
    },
    "negative_seed": Case("bits", ((4,),), seed=-1),
    "long_seed": Case("bits", ((4,),), seed=2**40 + 5),
}

KEYS: dict[str, tuple[str, tuple[Any, ...], str]] = {
    f"{function}_{impl}_{i}": (function, args, impl)
    for impl in (
        *("threefry2x32", "rbg", "unsafe_rbg"),
        *("philox2x32", "philox4x32", "threefry4x32"),
    )
    for i, (function, args) in enumerate(
        [("split", ()), ("split", ((2, 3),)), ("fold_in", (7,)), ("fold_in", (2**32 - 1,))]
    )
}
"""Calls that give keys: ``function(key(42, impl=impl), *args)``."""

SHAPE_PARAMETERS = np.array([0.3, 1.5, 8.0], np.float32)
"""At which derivatives of gamma numbers are compared."""
