"""What cannot be drawn is said in words."""

import re

import numpy as np
import pytest

import bindax
import bindax_random as random

KEY = random.key(0)
WRONG = [
    (TypeError, "normal takes a random key, but got 3", lambda: random.normal(3)),
    (TypeError, "A seed becomes one with random.key(3)", lambda: random.normal(3)),
    (TypeError, "split takes a random key, but got 'a'", lambda: random.split("a")),
    (TypeError, "uint32[..., 2], but got float32[2]", lambda: random.bits(np.ones(2, "float32"))),
    (TypeError, "uint32[..., 2], but got uint32[3]", lambda: random.bits(np.ones(3, "uint32"))),
    (ValueError, "single key, but got an array of keys", lambda: random.bits(random.split(KEY))),
    (TypeError, "the seed must be an integer", lambda: random.key(1.5)),
    (TypeError, "takes a scalar as seed", lambda: random.key(np.zeros(2, int))),
    (TypeError, "takes an integer as seed, but got a random key", lambda: random.key(KEY)),
    (OverflowError, "does not fit into", lambda: random.key(2**65)),
    (OverflowError, "does not fit into uint32", lambda: random.fold_in(KEY, -1)),
    (TypeError, "takes an integer as data", lambda: random.fold_in(KEY, 1.5)),
    (TypeError, "takes a scalar as data", lambda: random.fold_in(KEY, np.arange(2))),
    (ValueError, "no random generator 'mersenne'", lambda: random.key(0, impl="mersenne")),
    (ValueError, "give impl or dtype", lambda: random.key(0, impl="rbg", dtype="rbg")),
    (TypeError, "is named by a string", lambda: random.key(0, impl=3)),
    (ValueError, "sizes must not be negative", lambda: random.normal(KEY, (-1,))),
    (TypeError, "takes an integer for shape", lambda: random.normal(KEY, (1.5,))),
    (ValueError, "dtype must be a float dtype", lambda: random.uniform(KEY, (), "int32")),
    (ValueError, "float or complex dtype", lambda: random.normal(KEY, (), "int32")),
    (ValueError, "unsigned integer dtype", lambda: random.bits(KEY, (), "int32")),
    (TypeError, "must be an integer dtype", lambda: random.randint(KEY, (), 0, 1, "float32")),
    (ValueError, "gamma: a of shape (2,)", lambda: random.gamma(KEY, np.ones(2), (3,))),
    (ValueError, "mode must be", lambda: random.bernoulli(KEY, mode="x")),
    (ValueError, "mode must be", lambda: random.gumbel(KEY, mode="x")),
    (TypeError, "p must be a float", lambda: random.bernoulli(KEY, 1)),
    (ValueError, "vector with a probability", lambda: random.choice(KEY, 3, p=np.ones(2))),
    (ValueError, "without replacement", lambda: random.choice(KEY, 3, (4,), replace=False)),
    (ValueError, "must have elements", lambda: random.choice(KEY, 0, (4,))),
    (TypeError, "must be a sequence", lambda: random.choice(KEY, 3, 4)),
    (TypeError, "must be an integer or have an axis", lambda: random.permutation(KEY, 1.5)),
    (ValueError, "axis 2 is out of bounds", lambda: random.permutation(KEY, np.ones(3), 2)),
    (
        ValueError,
        "method must be",
        lambda: random.multivariate_normal(KEY, 0, 0, method=""),
    ),
    (ValueError, "axis of categories", lambda: random.dirichlet(KEY, 1.0)),
    (TypeError, "does not fit into the dtype", lambda: random.pareto(KEY, np.array(2.0))),
]


@pytest.mark.parametrize(("error", "text", "call"), WRONG, ids=range(len(WRONG)))
def test_errors(error, text, call):
    with pytest.raises(error, match=re.escape(text)):
        call()


def test_errors_while_tracing():
    with pytest.raises(TypeError, match="the words of keys"):
        bindax.jit(lambda x: random.normal(x))(1.0)
    with pytest.raises(ValueError, match="single key"):
        bindax.jit(random.normal)(random.split(KEY))


@pytest.mark.parametrize(
    "draw",
    [
        lambda key: random.beta(key, 1j, 2.0),
        lambda key: random.gamma(key, np.complex64(1j)),
        lambda key: random.uniform(key, (2,), minval=1j),
        lambda key: random.pareto(key, 1j),
    ],
)
def test_parameters_are_real(draw):
    with pytest.raises(TypeError, match=r"no real number|does not fit into the dtype"):
        draw(random.key(0))


def test_old_style_keys_are_refused_where_a_setting_says_so():
    words = random.PRNGKey(0)
    with bindax.legacy_prng_key("warn"):
        with pytest.warns(UserWarning, match="uniform: the key is an array of words, uint32"):
            random.uniform(words)
        random.uniform(KEY)
    with bindax.legacy_prng_key("error"):
        with pytest.raises(ValueError, match="make keys with random"):
            random.uniform(words)
        with pytest.raises(TypeError, match="float32"):
            random.uniform(np.zeros(1, np.float32))
        assert random.key_data(random.wrap_key_data(words)).shape == (2,)
