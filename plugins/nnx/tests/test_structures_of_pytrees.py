"""Structures of objects as pytrees are found again, and follow what changes."""

import copy
import pickle

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import nnx, tree


class Layer(nnx.Module):
    def __init__(self, size=2):
        self.kernel = nnx.Param(jnp.ones(size))
        self.size, self.shape, self.name = size, (size, 1), None


class Net(nnx.Module):
    def __init__(self):
        self.layers = [Layer(), Layer()]
        self.first = Layer(3)
        self.sizes = [1, 2]


CHANGES = {
    "a static value": lambda net: setattr(net.first, "size", 4),
    "a mark": lambda net: setattr(net.first, "size", nnx.data(net.first.size)),
    "a tuple": lambda net: setattr(net.first, "shape", (1, 2)),
    "data in the place of a static value": lambda net: setattr(net.first, "size", jnp.ones(2)),
    "an attribute more": lambda net: setattr(net.first, "extra", 1),
    "an attribute less": lambda net: delattr(net.first, "size"),
    "an item more": lambda net: net.layers.append(Layer()),
    "no item": lambda net: net.layers.clear(),
    "a static item": lambda net: net.sizes.append(3),
    "data in a list without": lambda net: net.sizes.append(jnp.ones(1)),
    "metadata": lambda net: net.first.kernel.set_metadata("axis", 1),
}


def test_structures_are_the_same_objects_while_nothing_changes():
    layer = Layer()
    first = tree.structure((layer, [layer]))
    layer.kernel.value = jnp.zeros(2)
    assert tree.structure((layer, [layer])) is first
    mapped = tree.map(lambda x: x + 1, layer)
    assert tree.structure((mapped, [mapped])) is first
    net = Net()
    assert tree.structure(net) == tree.structure(net)
    assert tree.structure(Net()) == tree.structure(net)
    assert hash(tree.structure(Net())) == hash(tree.structure(net))


@pytest.mark.parametrize("name", CHANGES)
def test_structures_follow_changes(name):
    net, other = Net(), Net()
    before = tree.structure(net)
    assert tree.structure(net) == before
    CHANGES[name](net)
    after = tree.structure(net)
    assert after != before
    CHANGES[name](other)
    assert tree.structure(other) == after
    again = tree.unflatten(after, tree.leaves(net))
    assert tree.structure(again) == after
    assert again.first.__dict__.keys() == net.first.__dict__.keys()


def test_copies_have_their_own_structures():
    net = Net()
    before = tree.structure(net)
    for made in (copy.copy(net), copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert tree.structure(made) == before
        made.first = Layer(5)
        assert tree.structure(made) != before
    assert tree.structure(net) == before
    assert pickle.loads(pickle.dumps(before)) == before


def test_plain_jit_traces_modules_once_for_each_structure():
    traced = []

    @bindax.jit
    def f(net):
        traced.append(net.first.size)
        return net.first.kernel.value.sum() * net.first.size

    net = Net()
    np.testing.assert_allclose([f(net), f(net), f(Net())], [9.0] * 3)
    net.first.size = 4
    np.testing.assert_allclose([f(net), f(Net()), f(net)], [12.0, 9.0, 12.0])
    assert traced == [3, 4]
