"""Methods of arrays and of tracers beside the functions of the same names and NumPy's methods."""

import numpy as np
import pytest
from jax_calls import split_calls as calls

import bindax_core as bx
import bindax_numpy as jnp
import bindax_transforms as bt
from bindax_core.extend import tree_leaves, typeof

X = np.array([[3, 1, 2], [6, 5, 4]], np.int32)
K = np.array([[True, False, True], [False, True, True]])
V = np.array([1.5, 2.5, 4.0], np.float32)

# Calls of methods that are functions with the array as their first argument.
CALLS = calls("""
sum() sum(0) sum(axis=1,keepdims=True) sum(where=K) sum(initial=5) sum(dtype='float32') sum((0,1))
sum(dtype=bool) prod() prod(1) prod(where=K,axis=0) prod(initial=2) max() max(0) max(initial=9)
max(where=K,initial=0) min(1) min(where=K,initial=9,axis=1) mean() mean(0) mean(where=K)
mean(dtype='float16') all() all(1) all(where=K) any(0,keepdims=True) any(where=K) argmax() argmax(0)
argmin(1,keepdims=True) cumsum() cumsum(1) cumsum(1,dtype='float32') cumsum(1,dtype=bool) cumprod(0)
cumprod(dtype='float32') var() var(1) var(ddof=1,axis=0) var(where=K) var(correction=1) std(0)
std(keepdims=True) std(where=K,axis=1) ptp() ptp(1) sort() sort(0) sort(axis=1,descending=True)
argsort() argsort(0) round(1) round(decimals=0) repeat(2) repeat(2,axis=1) diagonal() diagonal(1)
trace() trace(1) nonzero() take(I) take(I,axis=1) take(I,1,mode='clip') clip(2,4) clip(min=2)
clip(0.5,2.5) dot(X.T) compress(C,axis=1) argpartition(1) searchsorted(I)
sum(where=True) mean(where=True) min(where=True,initial=9) choose([A0,A1],mode='wrap')
reshape(3,2) reshape((3,-1)) reshape(3,2,order='F') ravel() ravel('F')
flatten() flatten('F') transpose() transpose(1,0) swapaxes(0,1) squeeze() astype('float32')
astype(float) conj() copy()
""")
NAMES = {"K": K, "I": np.array([0, 2]), "X": X, "C": np.array([True, False, True])}
NAMES |= {"A0": np.zeros(3, np.int32), "A1": np.ones(3, np.int32)}
# What has no function of one name, or other arguments there.
OTHERS = ("flatten", "compress", "conj", "choose")


def host(x):
    return V if x.startswith("searchsorted") else X


def assert_same(got, wanted):
    for a, b in zip(leaves(got), leaves(wanted), strict=True):
        assert (typeof(a).dtype, typeof(a).weak_type) == (typeof(b).dtype, typeof(b).weak_type)
        assert np.shape(a) == np.shape(b)
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_round_without_digits_gives_integers():
    for f in (round, bt.jit(round, backend="numpy")):
        assert_same(f(jnp.asarray(V)), np.array([2, 2, 4], np.int32))
    assert round(jnp.asarray(V), 0).dtype == V.dtype
    assert round(jnp.asarray(X)).dtype == X.dtype


def test_counts_may_be_an_array_while_tracing():
    counts = jnp.array([1, 2])
    traced = bt.jit(lambda x: jnp.repeat(x, counts, axis=0), backend="numpy")
    assert_same(traced(X), np.repeat(X, [1, 2], 0))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_a_scalar_has_one_element_along_an_axis(name):
    for call in (getattr(jnp, name), lambda x, axis: getattr(x, name)(axis)):
        assert_same(call(jnp.float32(2.5), 0), np.array([2.5], np.float32))


def test_numbers_of_python_give_no_strong_doubles():
    for x in (jnp.hypot(3, 4), jnp.heaviside(0.5, 1)):
        assert typeof(x).weak_type
    assert (jnp.ones(2) * jnp.hypot(3, 4)).dtype == np.float32


def test_format():
    assert f"{jnp.float32(0.5):.2f} {jnp.int32(3):03d} {jnp.arange(2)}" == "0.50 003 [0 1]"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{jnp.arange(2):.2f}"


def leaves(x):
    return tree_leaves(x)


@pytest.mark.parametrize("call", CALLS)
def test_methods_are_the_functions(call):
    name, rest = call.split("(", 1)
    got = eval(f"x.{call}", {**NAMES, "x": jnp.asarray(host(call))})
    if name not in OTHERS and not (name == "reshape" and rest.startswith("3,")):
        text = f"jnp.{name}(x{'' if rest == ')' else ','}{rest}"
        text = text.replace("transpose(x,1,0)", "transpose(x,(1,0))")
        assert_same(got, eval(text, {**NAMES, "jnp": jnp, "x": host(call)}))
    if name in ("nonzero", "compress"):
        return
    staged = bt.jit(lambda x: eval(f"x.{call}", {**NAMES, "x": x}), backend="numpy")
    assert_same(staged(host(call)), got)


def test_values_of_methods_are_those_of_numpy():
    for call in CALLS:
        if not any(
            word in call and "argsort" not in call
            for word in ("correction", "descending", "argpartition", "ptp", "sort()", "sort(0)")
        ):
            wanted = eval(f"x.{call}", {**NAMES, "x": host(call)})
            got = eval(f"x.{call}", {**NAMES, "x": jnp.asarray(host(call))})
            for a, b in zip(leaves(got), leaves(wanted), strict=True):
                np.testing.assert_allclose(np.asarray(a), b, rtol=1e-3, err_msg=call)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "argmax", "cumsum"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "float16", "float32", "complex64"])
def test_methods_and_functions_agree_in_dtype(name, dtype):
    for x in (np.ones(3, dtype), jnp.asarray(2.5) * jnp.ones(3, dtype), jnp.full(3, 1.0)):
        if dtype == "complex64" and name == "argmax":
            continue
        got = getattr(jnp.asarray(x), name)()
        assert_same(got, getattr(jnp, name)(x))
        assert not typeof(got).weak_type


def test_functions_of_numpy_take_arrays():
    x, v = jnp.asarray(X), jnp.asarray(V)
    for call in (
        lambda x, v: np.sum(x),
        lambda x, v: np.sum(x, axis=0),
        lambda x, v: np.mean(x, axis=1, keepdims=True),
        lambda x, v: np.std(x, ddof=1),
        lambda x, v: np.var(x, axis=0),
        lambda x, v: np.max(x),
        lambda x, v: np.prod(x, axis=1),
        lambda x, v: np.any(x, axis=0),
        lambda x, v: np.all(x),
        lambda x, v: np.round(v, 1),
        lambda x, v: np.argmax(x, axis=1),
        lambda x, v: np.argsort(x, axis=0),
        lambda x, v: np.cumsum(x),
        lambda x, v: np.clip(x, 2, 4),
        lambda x, v: np.reshape(x, (3, 2)),
        lambda x, v: np.ravel(x),
        lambda x, v: np.squeeze(x[None]),
        lambda x, v: np.transpose(x),
        lambda x, v: np.take(x, [0, 1], axis=1),
        lambda x, v: np.repeat(x, 2),
        lambda x, v: np.diagonal(x),
        lambda x, v: np.trace(x),
        lambda x, v: np.searchsorted(v, 2.0),
        lambda x, v: np.nonzero(x)[0],
        lambda x, v: np.sort(x),
        lambda x, v: np.add(x, x),
    ):
        np.testing.assert_allclose(np.asarray(call(x, v)), call(X, V), rtol=1e-6)


def test_bytes():
    x = jnp.asarray(V)
    assert x.tobytes() == V.tobytes()
    assert (x.itemsize, x.nbytes) == (4, 12)
    for dtype in ("int32", "uint8", "int16", "bool"):
        host = V if dtype != "bool" else K
        np.testing.assert_array_equal(np.asarray(jnp.asarray(host).view(dtype)), host.view(dtype))
    z = np.array([1 + 2j, 3 - 1j], np.complex64)
    for a, dtype in ((z, "float32"), (z, "uint8"), (z.view("float32"), "complex64")):
        np.testing.assert_array_equal(np.asarray(jnp.asarray(a).view(dtype)), a.view(dtype))
    for a in (V, X, z, K, np.array(1.5)):
        swapped = np.asarray(jnp.asarray(a).byteswap())
        assert swapped.tobytes() == a.byteswap().tobytes()
    seen = []
    bt.jit(lambda x: seen.append((x.itemsize, x.nbytes)) or x.view("int32"))(V)
    assert seen == [(4, 12)]
    with pytest.raises(ValueError, match=r"view: the last axis of float32.3. has 12 bytes"):
        x.view("float64")
    with pytest.raises(ValueError, match="view: a scalar"):
        jnp.float32(1).view("int8")
    with pytest.raises(TypeError, match="inplace must be False"):
        x.byteswap(inplace=True)


def test_devices_and_membership():
    x = jnp.asarray(V)
    assert x.device == bx.devices()[0]
    np.testing.assert_array_equal(np.asarray(x.to_device(x.device)), V)
    with pytest.raises(ValueError, match="to_device: device must be one of"):
        x.to_device("cpu")
    assert 2.5 in x
    assert 9 not in x
    for item in ("a", None, object()):
        with pytest.raises(TypeError, match="not a legal operand"):
            item in x  # noqa: B015
    assert x.tolist() == V.tolist()
    np.testing.assert_array_equal(np.asarray(jnp.ones(2, device=x.device)), [1, 1])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: x.sum(out=x), TypeError, "sum: arrays are immutable"),
        (lambda x: x.mean(where=x), ValueError, "mean: where must be None or booleans"),
        (lambda x: x.max(initial=x), ValueError, "max: initial must be a scalar"),
        (lambda x: x[:0].max(0), ValueError, "max over axes .* give initial"),
        (lambda x: x.ravel("X"), ValueError, "ravel: order must be 'C' or 'F'"),
        (lambda x: x.clip(0, 1, out=x), TypeError, "clip: arrays are immutable"),
        (lambda x: x.take(np.array([5]), 0, mode="raise"), IndexError, "out of bounds"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(jnp.asarray(X))


# ----------------------------------------------------------------------------- the array API


def test_the_namespace_describes_itself():
    space = jnp.zeros(1).__array_namespace__(api_version="2024.12")
    assert space is jnp
    info = space.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == np.float32
    assert "int8" in info.dtypes(kind=("integral", "bool"))
    assert info.default_device() in info.devices()
    assert info.capabilities()["max dimensions"] == 64
    with pytest.raises(ValueError, match="kind must be one of"):
        info.dtypes(kind="x")
    with pytest.raises(ValueError, match="'1999' is not supported"):
        jnp.zeros(1).__array_namespace__(api_version="1999")


# --------------------------------------------------------------------- numbers without axes


def test_weak_numbers_settle_and_arrays_keep_their_dtype():
    vector = bt.vmap(lambda _: 2.5)(V)
    number = bt.grad(lambda x: x * x)(1.5)
    wide = bt.jit(lambda x: x * np.ones(2, np.float64))(1.0)
    assert typeof(number).weak_type
    for f in (jnp.asarray, jnp.sum, lambda x: jnp.stack([x]), lambda x: jnp.reshape(x, (1,))):
        assert f(number).dtype == f(2.5).dtype == bt.jit(f)(2.5).dtype == np.float32
        assert bt.jit(f)(number).dtype == f(number).dtype
    for name in ("sum", "prod", "max", "mean", "var", "cumsum", "ravel", "reshape", "transpose"):
        args = (1,) if name == "reshape" else ()
        assert_same(getattr(number, name)(*args), getattr(jnp, name)(number, *args))
    for f in (jnp.asarray, jnp.sum, lambda x: jnp.stack([x]), lambda x: jnp.reshape(x, (2, 1))):
        assert f(wide).dtype == np.float64
    for f in (jnp.asarray, jnp.sum, lambda x: jnp.stack([x]), lambda x: jnp.reshape(x, (3, 1))):
        assert f(vector).dtype == vector.dtype
