"""``x.at[...].set`` and its like, and the scatters, beside JAX's."""

import numpy as np
import pytest

import bindax_core as bx
import bindax_lax_basic as lax
import bindax_transforms as bt
from bindax_lax_basic.samples.indices import INDEXED as X
from bindax_lax_basic.samples.indices import INDICES

REPEATED = {
    name
    for name, index in INDICES.items()
    if len(set(np.arange(X.size).reshape(X.shape)[index].ravel().tolist())) < X[index].size
}


def array(x):
    return bx.Array.from_numpy(np.array(x))


def compiled(function, *operands):
    pytest.importorskip("bindax_xla_backend")
    with bx.config.override(backend="xla"):
        return bt.jit(function)(*operands)


def close(got, wanted, rtol=1e-11):
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=rtol, atol=1e-12)
    assert got.dtype == wanted.dtype


NAMES = ["set", "add", "subtract", "min", "max"]
# Of these JAX has no derivative where positions are repeated.
PRODUCTS = ["multiply", "divide", "power"]
DIFFERENTIATED = [
    "plane of positions",
    "arrays apart",
    "new axes",
    "slices with steps",
    "reversed box",
    "mask and integer",
]


@pytest.mark.every(2)
@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_values_and_derivatives(name, jax_answers):
    index, unique = INDICES[name], name not in REPEATED

    def own(x, v):
        names = NAMES + PRODUCTS if unique else NAMES
        return [getattr(x.at[index], name)(v, unique_indices=unique) for name in names]

    values = np.sin(np.arange(X[index].size)).reshape(X[index].shape) * 9 + 10
    n = 8 if unique else 5
    weights = [np.cos(np.arange(X.size) + i).reshape(X.shape) for i in range(n)]

    def both(vjp):
        def function(x, v):
            out, pull = vjp(own, x, v)
            return [*out, *pull(weights)]

        return function

    wanted = jax_answers("vjp", lambda jax: jax.jit(both(jax.vjp))(X, values))
    evaluated, in_xla = both(bt.vjp)(X, values), compiled(both(bt.vjp), X, values)
    for a, b, c in zip(evaluated, in_xla, wanted, strict=True):
        close(a, c)
        close(b, c)


@pytest.mark.parametrize("name", ["array", "arrays apart", "mask and array", "slices with steps"])
@pytest.mark.parametrize("update", [*NAMES, *PRODUCTS, "apply"])
def test_batches(name, update):
    index = INDICES[name]
    values = np.sin(np.arange(X[index].size)).reshape(X[index].shape)
    if update == "apply":
        function = lambda x, v: x.at[index].apply(lambda old: old * v[(0,) * v.ndim])  # noqa: E731
    else:
        function = lambda x, v: getattr(x.at[index], update)(v)  # noqa: E731
    pairs = [(X, values), (X[::-1], -values)]
    wanted = np.stack([np.asarray(function(array(x), array(v))) for x, v in pairs])
    close(bt.vmap(function)(np.stack([X, X[::-1]]), np.stack([values, -values])), wanted)
    same_x = bt.vmap(function, in_axes=(None, 0))(array(X), np.stack([values, values]))
    close(same_x, np.stack([wanted[0]] * 2))


def test_batches_of_positions():
    i = np.array([[0, 3], [2, 2]])
    rows = [np.asarray(array(X).at[k, 1:3].add(2.0)) for k in i]
    got = bt.vmap(lambda x, k: x.at[k, 1:3].add(2.0), in_axes=(None, 0))(array(X), i)
    close(got, np.stack(rows))


MODES = [None, "clip"]


@pytest.mark.every(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("update", NAMES + PRODUCTS)
def test_out_of_bounds(mode, update, jax_answers):
    x = np.arange(1.0, 13).reshape(4, 3)
    indices = [np.array([7, -9, 2])], [9], [-9], [slice(1, 2), np.array([-4, 5])]

    def everywhere(x):
        return [getattr(x.at[tuple(index)], update)(2.5, mode=mode) for index in indices]

    wanted = jax_answers("all", lambda jax: everywhere(jax.numpy.asarray(x)))
    for a, b, c in zip(everywhere(array(x)), compiled(everywhere, x), wanted, strict=True):
        close(a, c)
        close(b, c)


def test_negative_positions_may_not_wrap():
    x = array(np.zeros(3))
    assert x.at[-1].set(1.0, wrap_negative_indices=False).tolist() == [0, 0, 0]
    i = np.array([-1, 1])
    traced = bt.jit(lambda x, i: x.at[i].add(1.0, wrap_negative_indices=False))(x, i)
    assert np.asarray(traced).tolist() == [0, 1, 0]


DTYPES = ["bool", "uint8", "int32", "bfloat16", "complex64"]
VALUES = [2, True, 2.5, np.float32(3.5), np.int8(3), np.float64(1.5)]


def or_refused(function, x):
    try:
        return function(x)
    except TypeError:
        return None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("update", NAMES + PRODUCTS)
@pytest.mark.filterwarnings("ignore:x.at")
def test_dtypes_and_weak_types(dtype, update, jax_answers):
    x = np.asarray(lax.convert_element_type(np.array([0, 1, 3, 2]), dtype))
    if (dtype, update) == ("bool", "power"):
        pytest.skip("JAX gives int32 whatever the default integers are, bindax those")
    for number, value in enumerate(VALUES):
        function = lambda x, v=value: getattr(x.at[np.array([1, 2])], update)(v)  # noqa: E731
        wanted = jax_answers(str(number), lambda jax, f=function: or_refused(f, jax.numpy.array(x)))
        with bx.config.override(default_dtype_bits=64):
            if wanted is None:
                with pytest.raises(TypeError):
                    function(array(x))
                continue
            got = function(array(x))
        assert (got.dtype, got.weak_type) == (wanted.dtype, wanted.weak_type), value
        a, b = np.asarray(got), np.asarray(wanted)
        np.testing.assert_allclose(a.astype(complex), b.astype(complex), rtol=1e-2)


def test_lossy_conversion_is_warned_of():
    x = array(np.arange(3))
    with pytest.warns(FutureWarning, match=r"dtype float64 are converted to int64.*astype") as seen:
        x.at[0].set(1.5)
    assert seen[0].filename == __file__


@pytest.mark.parametrize(
    "y", [[2.0, 3, 4, 5, 6, 7, 8], [0.0, 3, 0, 5, 0, 7, 8], [0.0, 0, 4, 0, 0, 7, 8]]
)
def test_repeated_products(y):
    x, y, i = array([2.0, 3.0, 5.0]), array(y), np.array([1, 1, 0, 2, 2, 2, 9])
    product = lambda x, y: x.at[i].multiply(y)  # noqa: E731

    def by_hand(x, y):
        parts = x[0] * y[2], x[1] * y[0] * y[1], x[2] * y[3] * y[4] * y[5]
        return lax.concatenate([part[None] for part in parts], 0)

    for order in (lambda f: bt.jacrev(f, (0, 1)), lambda f: bt.jacfwd(bt.jacrev(f, 1), 1)):
        got, wanted = order(product)(x, y), order(by_hand)(x, y)
        pairs = zip(got, wanted, strict=True) if isinstance(got, tuple) else [(got, wanted)]
        for a, b in pairs:
            close(a, b)


def test_equal_extremes_share(jax_answers):
    x, i = np.array([1.0, 1.0, 1.0]), np.array([0, 0, 1, 9])
    values = np.array([1.0, 1.0, 2.0, 3.0])
    for name in ("min", "max"):
        function = lambda x, v, name=name: getattr(x.at[i], name)(v)  # noqa: E731
        got = bt.vjp(function, x, values)[1](np.ones(3))
        wanted = jax_answers(name, lambda jax, f=function: jax.vjp(f, x, values)[1](np.ones(3)))
        for a, b in zip(got, wanted, strict=True):
            close(a, b)


def test_transposed_scatter():
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    i = np.array([[0], [0], [2], [5]])
    put = lambda x, y: lax.scatter(x, i, y, numbers)  # noqa: E731
    to_x, to_y = bt.linear_transpose(put, np.ones(3), np.ones(4))(np.array([2.0, 3.0, 4.0]))
    close(to_x, np.array([0.0, 3.0, 0.0]))
    close(to_y, np.array([0.0, 2.0, 4.0, 0.0]))


def test_apply(jax_answers):
    x = np.arange(5.0)
    for index in (np.array([1, 3, 9, 0]), slice(1, None, 2), x > 2, 3, np.array([[-1], [2]])):
        for mode in ("drop", "clip"):
            call = lambda x, i=index, mode=mode: x.at[i].apply(lambda v: v * 3 + 1, mode=mode)  # noqa: E731
            wanted = jax_answers(
                f"{index} {mode}", lambda jax, call=call: call(jax.numpy.asarray(x))
            )
            close(call(array(x)), wanted)
    squared = lambda x, i: x.at[i].apply(lambda v: v * v)  # noqa: E731
    places = np.array([1, 1, 2])  # an element that is named twice is computed once
    for function in (squared, bt.jit(squared)):
        close(function(array(x + 2), places), np.array([2.0, 9.0, 16.0, 5.0, 6.0]))
    gradient = bt.grad(lambda x: squared(x, places[1:]).sum())(x + 2)
    close(gradient, np.array([1.0, 6.0, 8.0, 1.0, 1.0]))
    traced = bt.jit(lambda x, i: x.at[i].apply(lax.neg))(x, np.array([1, 3]))
    close(traced, np.array([0.0, -1, 2, -3, 4]))


def test_empty():
    x = array(np.zeros((0, 3)))
    assert x.at[np.array([0])].set(1.0).shape == (0, 3)
    y = array(np.ones(3))
    close(y.at[np.zeros(0, int)].set(5.0), np.ones(3))
    close(y.at[np.zeros(3, bool)].add(5.0), np.ones(3))
    close(y.at[1:1].apply(lax.neg), np.ones(3))


ERRORS = [
    (lambda x: x.at[:2].set(np.ones(3)), ValueError, r"values float64\[3\].*shape \(2, 2\)"),
    (lambda x: x.at[0].set(np.ones((1, 3))), ValueError, r"values float64\[1,3\] do not broadcast"),
    (lambda x: x.at[0].set([1, 2, 3]), ValueError, "do not broadcast"),
    (lambda x: x.at[0].set([None]), ValueError, r"x\.at\[...\]: None .* at \[0\]"),
    (lambda x: x.at[0].set(1, mode="wrap"), ValueError, "'wrap'"),
    (lambda x: x.at[0, 0, 0].set(1), IndexError, "too many indices"),
    (lambda x: (x > 0).at[0].add(True), TypeError, "scatter_add does not accept the dtype bool"),
    (lambda x: (x > 0).at[0].multiply(True), TypeError, "scatter_mul does not accept the dtype"),
    (lambda x: x.at[:].apply(lambda v: v[0]), TypeError, "elementwise function"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS, ids=[e[2] for e in ERRORS])
def test_errors(call, error, text):
    x = array(np.zeros((4, 2)))
    with pytest.raises(error, match=text):
        call(x)
    with pytest.raises(error, match=text):
        bt.make_jaxpr(call)(x)


def test_errors_of_applying_and_scattering():
    with pytest.raises(TypeError, match=r"scatter_apply: the function must return the type that"):
        lax.scatter_apply(
            np.ones(3),
            np.array([[1]]),
            lambda v: v > 0,
            lax.ScatterDimensionNumbers((), (0,), (0,)),
            update_shape=(1,),
        )
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    with pytest.raises(TypeError, match=r"scatter requires operands of equal dtypes"):
        lax.scatter(np.ones(3), np.array([[0]]), np.ones(1, int), numbers)
    with pytest.raises(TypeError, match=r"scatter_max: the updates.*ask for \(2,\)"):
        lax.scatter_max(np.ones(3), np.array([[0], [1]]), np.ones(1), numbers)
    product = lambda y: lax.scatter_mul(np.ones(3), np.array([[0]]), y, numbers)  # noqa: E731
    with pytest.raises(TypeError, match="linear in its operand"):
        bt.linear_transpose(product, np.ones(1))(np.ones(3))
    assert "IndexedUpdate(" in repr(array(np.ones(2)).at[0])
    assert "IndexedUpdates(" in repr(array(np.ones(2)).at)
