"""Random indices ``x[...]`` and ``x.at[...]`` beside NumPy's."""

import numpy as np
import pytest
from _indexing import array, compiled, traced_parts
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import bindax_core as bx
import bindax_transforms as bt


def positions(shape, axis):
    size = shape[axis]
    sizes = st.sampled_from([(), (2,), (3, 1), (1, 2), (3, 2), (0,)])
    return sizes.flatmap(
        lambda own: st.lists(
            st.integers(-size, size - 1), min_size=int(np.prod(own)), max_size=int(np.prod(own))
        ).map(lambda values: np.array(values, np.int32).reshape(own))
    )


@st.composite
def indexed_shapes(draw):
    """A shape without empty axes, and an index for it; positions may not broadcast."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    entries, axis = [], 0
    stop = draw(st.integers(0, len(shape)))
    while axis < stop:
        kind = draw(st.sampled_from(["int", "slice", "array", "array", "mask", "none"]))
        bound = st.none() | st.integers(-shape[axis] - 1, shape[axis] + 1)
        if kind == "none":
            entries.append(None)
            continue
        if kind == "int":
            entries.append(draw(st.integers(-shape[axis], shape[axis] - 1)))
        elif kind == "slice":
            step = draw(st.sampled_from([None, 1, 2, 3, -1, -2]))
            entries.append(slice(draw(bound), draw(bound), step))
        elif kind == "array":
            entries.append(draw(positions(shape, axis)))
        else:
            n = draw(st.integers(1, min(2, stop - axis)))
            own = shape[axis : axis + n]
            count = int(np.prod(own))
            bits = draw(st.lists(st.booleans(), min_size=count, max_size=count))
            entries.append(np.array(bits, bool).reshape(own))
            axis += n - 1
        axis += 1
    if draw(st.booleans()):
        # In front of the last entries, which then are for the last axes.
        place = draw(st.integers(0, len(entries)))
        masks = [isinstance(e, np.ndarray) and e.dtype == bool for e in entries]
        used = [e.ndim if m else e is not None for e, m in zip(entries, masks, strict=True)]
        if sum(used[place:]) == 0 or stop == len(shape):
            entries.insert(place, Ellipsis)
    return shape, tuple(entries)


@seed(5)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(indexed_shapes())
def test_random_indices_are_numpys(case):
    shape, index = case
    x = np.arange(float(np.prod(shape))).reshape(shape)
    try:
        wanted = x[index]
    except IndexError:  # arrays that do not broadcast
        with pytest.raises((IndexError, ValueError)):
            array(x)[index]
        return
    np.testing.assert_array_equal(np.asarray(array(x)[index]), wanted, strict=True)
    rebuild, dynamic = traced_parts(index)
    staged = bt.make_jaxpr(lambda x, *arrays: x[rebuild(arrays)])(x, *dynamic)
    (got,) = bx.eval_jaxpr(staged.jaxpr, staged.consts, x, *dynamic)
    np.testing.assert_array_equal(np.asarray(got), wanted, strict=True)


@seed(6)
@settings(max_examples=25, deadline=None)
@given(indexed_shapes())
def test_random_indices_compiled(case):
    shape, index = case
    x = np.arange(float(np.prod(shape))).reshape(shape)
    try:
        wanted = x[index]
    except IndexError:
        return
    rebuild, dynamic = traced_parts(index)
    got = compiled(lambda x, *arrays: x[rebuild(arrays)], x, *dynamic)
    np.testing.assert_array_equal(got, wanted, strict=True)


FUNCTIONS = {
    "set": np.ndarray.__setitem__,
    "add": np.add.at,
    "multiply": np.multiply.at,
    "min": np.minimum.at,
    "max": np.maximum.at,
}


@seed(7)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(indexed_shapes(), st.sampled_from(sorted(FUNCTIONS)))
def test_random_updates_are_numpys(case, name):
    shape, index = case
    x = np.arange(float(np.prod(shape))).reshape(shape)
    try:
        size = x[index].shape
    except IndexError:
        with pytest.raises((IndexError, ValueError)):
            getattr(array(x).at[index], name)(1.0)
        return
    values = np.cos(np.arange(np.prod(size))).reshape(size) * 5
    if name == "set":  # which of several values stays is for NumPy another one in some cases
        values = x[index] * 3 + 1
    wanted = x.copy()
    FUNCTIONS[name](wanted, index, values)
    got = getattr(array(x).at[index], name)(values)
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12)
    rebuild, dynamic = traced_parts(index)
    change = lambda x, v, *arrays: getattr(x.at[rebuild(arrays)], name)(v)  # noqa: E731
    staged = bt.make_jaxpr(change)(x, values, *dynamic)
    (got,) = bx.eval_jaxpr(staged.jaxpr, staged.consts, x, values, *dynamic)
    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-12)
