"""A key that is used twice is found, evaluated, compiled, in loops and in batches."""

import numpy as np
import pytest

import bindax
import bindax_random as random
from bindax import lax
from bindax_core import config
from bindax_random import KeyReuseError, debug_key_reuse

REUSES = {
    "draws": lambda k: random.normal(k) + random.uniform(k),
    "split": lambda k: (random.split(k), random.normal(k)),
    "part": lambda k: (random.split(k)[0], random.bits(random.clone(k)), random.bits(k)),
    "scan": lambda k: lax.scan(lambda c, _: (c, random.bits(k)), 0, None, length=2),
    "vmap": lambda k: bindax.vmap(lambda _: random.bits(k))(np.arange(2)) + random.bits(k),
    "equal keys": lambda k: bindax.vmap(random.bits)(random.split(k)[np.array([0, 0])]),
}
FINE = {
    "split": lambda k: [random.normal(x) for x in random.split(k, 3)],
    "fold_in": lambda k: [random.normal(random.fold_in(k, i)) for i in range(3)],
    "clone": lambda k: (random.normal(k), random.normal(random.clone(k))),
    "vmap": lambda k: bindax.vmap(random.normal)(random.split(k, 3)),
    "choice": lambda k: random.choice(k, 3, (2,), replace=False),
    "categorical": lambda k: random.categorical(k, np.zeros(3, np.float32)),
    "signs": lambda k: random.double_sided_maxwell(k, 0.0, 1.0, (2,)),
    "rotation": lambda k: random.orthogonal(k, 2),
    "ball": lambda k: random.ball(k, 2),
}


@pytest.mark.parametrize("name", REUSES)
@pytest.mark.parametrize("transform", [lambda f: f, bindax.jit], ids=["evaluated", "traced"])
def test_reuse(name, transform):
    with config.override(backend="numpy"), debug_key_reuse(), pytest.raises(Exception) as caught:
        transform(lambda k: REUSES[name](k))(random.key(3))
    assert "was used by random." in str(caught.value)


@pytest.mark.parametrize("name", FINE)
def test_no_reuse(name):
    with config.override(backend="numpy"), debug_key_reuse():
        FINE[name](random.key(3))
        if name != "clone":  # whose allowance is given while a program is traced
            bindax.jit(lambda k: FINE[name](k))(random.key(4))


def test_the_message_says_where():
    with debug_key_reuse():
        key = random.key(7)
        random.split(key)
        with pytest.raises(KeyReuseError, match=r"random\.bits \(.*test_key_reuse.py.*\), but it"):
            random.bits(key)
        with debug_key_reuse(False):
            random.bits(key)
    random.bits(key)


def test_the_setting():
    draw = bindax.jit(lambda k: random.bits(k) + random.bits(k), backend="numpy")
    draw(random.key(3))  # traced while nobody looks
    with config.override(debug_key_reuse=True):
        with pytest.raises(Exception, match="was used by random"):
            draw(random.key(3))
        key = random.key(5)
        random.bits(key)
        with config.override(debug_key_reuse=False):
            random.bits(key)
    random.bits(key)
