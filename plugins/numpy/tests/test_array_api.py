"""`bindax.numpy` beside `array_api_strict`, an implementation of the array API standard by others.

Every function of the standard is there, with its parameters. The elementwise ones and operators are
compared at all pairs of special values of all dtypes, the others by calls.
"""

import inspect
import itertools
import warnings

import numpy as np
import pytest
from jax_calls import split_calls as calls

import bindax_numpy as jnp
from bindax_core import config

strict = pytest.importorskip("array_api_strict")

FLOATS = ("float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 1e-30, 1e30, np.inf, -np.inf, np.nan]

UNARY = calls("""
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite
isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal round sign signbit
sin sinh sqrt square tan tanh trunc
""")
BINARY = calls("""
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide
equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or
logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract
""")
OPERATORS = calls("""
__add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __le__ __lshift__ __lt__ __mod__ __mul__ __ne__
__or__ __pow__ __rshift__ __sub__ __truediv__ __xor__ __abs__ __invert__ __neg__ __pos__
""")
CALLS = calls("""
all(x) all(x,axis=1,keepdims=True) any(x,axis=0) argmax(x,axis=1) argmin(x,keepdims=True)
argsort(x)
argsort(x,axis=0,descending=True,stable=True) astype(x,xp.float32) broadcast_to(x,(2,2,3))
clip(x,1,4) clip(x,max=2) concat([x,x],axis=1) concat([x,x],axis=None) count_nonzero(x,axis=0)
cumulative_sum(x,axis=1) cumulative_sum(x,axis=0,include_initial=True) cumulative_prod(x,axis=1)
diff(x,axis=0) diff(x,n=2) empty_like(x).shape expand_dims(x,axis=-1) flip(x) flip(x,axis=1)
full_like(x,7) matmul(x,x.T) matrix_transpose(x) max(x) max(x,axis=1,keepdims=True) mean(x,axis=0)
min(x,axis=(0,1)) moveaxis(x,0,1) nonzero(x) ones_like(x) permute_dims(x,(1,0)) prod(x)
prod(x,axis=0)
repeat(x,2) repeat(x,2,axis=1) reshape(x,(3,2)) reshape(x,(-1,)) roll(x,1) roll(x,(1,2),axis=(0,1))
sort(x) sort(x,axis=0,descending=True) squeeze(xp.expand_dims(x,axis=0),axis=0) stack([x,x],axis=1)
std(x) std(x,axis=1)
std(x,correction=1.0) sum(x) sum(x,axis=1) sum(x,dtype=xp.float32) take(x,xp.asarray([1,0]),axis=0)
take_along_axis(x,xp.asarray([[1],[0]]),axis=1) tensordot(x,x,axes=2) tile(x,(2,1)) tril(x)
triu(x,k=1)
unique_all(x) unique_counts(x) unique_inverse(x) unique_values(x) unstack(x) var(x,axis=0)
vecdot(x,x)
where(x>2,x,-x) zeros_like(x) isdtype(x.dtype,'numeric')
meshgrid(x[0,:],x[1,:])
arange(5) arange(1,7,2) arange(5.0) arange(3,dtype=xp.int8) asarray(3) asarray(3.5)
asarray([True,False])
asarray([1,2.5]) asarray(x,copy=True) asarray(1j) eye(3) eye(2,3,k=1) full((2,),3) full((2,),True)
full((2,),1j) linspace(0,1,5) linspace(0,4,4,endpoint=False) ones(3) zeros((2,3))
zeros(2,dtype=xp.int64)
can_cast(xp.int8,xp.int16) can_cast(xp.float64,xp.float32) result_type(xp.int8,xp.int16)
finfo(xp.float32).eps
iinfo(xp.int16).max result_type(x,1) broadcast_arrays(x,x[0,:]) broadcast_shapes((2,1),(3,)) e pi
inf newaxis
linalg.cholesky(s) linalg.cross(x,x[::-1,:]) linalg.det(s) linalg.diagonal(s)
linalg.diagonal(s,offset=1)
linalg.eigvalsh(s) linalg.inv(s) linalg.matmul(s,s) linalg.matrix_norm(s)
linalg.matrix_norm(s,ord=1)
linalg.matrix_norm(s,ord='nuc') linalg.matrix_power(s,3) linalg.matrix_rank(s)
linalg.outer(s[0,:],s[1,:])
linalg.pinv(s) linalg.slogdet(s) linalg.solve(s,s[0,:]) linalg.svdvals(s)
linalg.tensordot(s,s,axes=1)
linalg.trace(s) linalg.trace(x,offset=1) linalg.vecdot(s,s) linalg.vector_norm(s)
linalg.matrix_transpose(s)
linalg.vector_norm(s,axis=0,ord=3) linalg.vector_norm(s,ord=float('inf'),keepdims=True)
fft.fft(z) fft.ifft(z) fft.rfft(s) fft.irfft(z) fft.hfft(z) fft.ihfft(s) fft.fftn(z) fft.ifftn(z)
fft.rfftn(s) fft.irfftn(z) fft.fft(z,n=5) fft.fft(z,axis=0,norm='ortho') fft.fftfreq(5)
fft.rfftfreq(5)
fft.fftshift(s) fft.ifftshift(s) fft.fftfreq(4,d=0.5)
""")


def functions(space):
    return [n for n in space.__all__ if inspect.isroutine(getattr(space, n))]


def signatures():
    for space, path in ((strict, ""), (strict.linalg, "linalg."), (strict.fft, "fft.")):
        yield from (path + name for name in sorted(functions(space)))


def named(space, path):
    for part in path.split("."):
        space = getattr(space, part)
    return space


# Of array_api_strict alone, not of the standard.
OWN = ("set_array_api_strict_flags", "get_array_api_strict_flags", "reset_array_api_strict_flags")


@pytest.mark.parametrize("path", [p for p in signatures() if p not in OWN])
def test_parameters(path):
    theirs, mine = (inspect.signature(named(space, path)) for space in (strict, jnp))
    for name, wanted in theirs.parameters.items():
        assert name in mine.parameters or wanted.kind in (
            wanted.POSITIONAL_ONLY,
            wanted.VAR_POSITIONAL,
        ), name
        if name not in mine.parameters:
            continue
        got = mine.parameters[name]
        if wanted.kind == wanted.KEYWORD_ONLY:
            assert got.kind in (wanted.KEYWORD_ONLY, wanted.POSITIONAL_OR_KEYWORD), name
        if wanted.default is wanted.empty:
            assert got.default in (wanted.empty, None, *DEFAULTS.get(path, ())), name


# Parameters that may be left out, as in NumPy.
DEFAULTS = {"linspace": (50,)}


def values(dtype):
    if dtype == "bool":
        return np.array([True, False])
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return np.array([v for v in (0, 1, 2, 3, -1, -5, 100) if v >= info.min], dtype)
    if dtype in FLOATS:
        return np.array(REALS, dtype)
    few = (0.0, -0.0, 1.0, -2.5, 3.0)
    return np.array([complex(*pair) for pair in itertools.product(few, few)], dtype)


# Where the sign of a zero, or the side of a branch cut that it names, is that of JAX.
ZEROS = ("sign", "floor_divide", "remainder", "__floordiv__", "__mod__", "acosh")


def assert_same(got, wanted, signs=True):
    """Equal types and shapes, and values within the last digits in which libraries differ."""
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for pair in zip(got, wanted, strict=True):
            assert_same(*pair)
        return
    if not hasattr(wanted, "dtype"):
        if isinstance(wanted, (float, int)) or wanted is None:
            assert got == wanted
        return
    a, b = np.asarray(got), np.asarray(wanted._array)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    if a.dtype.kind not in "fc":
        np.testing.assert_array_equal(a, b)
        return
    if a.dtype.kind == "c":
        signs = False
        a, b = (np.stack([v.real, v.imag]) for v in (a, b))
    precision = 100 * np.finfo(a.dtype).eps
    np.testing.assert_allclose(a, b, rtol=precision, atol=precision)
    if signs:
        zeros = (a == 0) & (b == 0)
        np.testing.assert_array_equal(np.signbit(a[zeros]), np.signbit(b[zeros]))


def compare(name, dtype, call):
    """Compare a call at the values of a dtype where the standard allows it."""
    x = values(dtype)
    with np.errstate(all="ignore"), config.override(enable_x64=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "reciprocal":
            x = x[x != 0]  # of complex zeros the standard says nothing
        if name in ZEROS and dtype in COMPLEX:
            x = x[~(np.signbit(x.imag) & (x.imag == 0))]
        pairs = [a.ravel() for a in np.meshgrid(x, x)]
        if "shift" in name:
            pairs[1] = pairs[1] % np.array(7, dtype) if dtype in INTEGERS else pairs[1]
        if name in ("floor_divide", "remainder", "__floordiv__", "__mod__") and dtype in INTEGERS:
            pairs[1] = np.where(pairs[1] == 0, np.array(1, dtype), pairs[1])
        if name in ("pow", "__pow__") and dtype in COMPLEX:
            pairs = [a[pairs[0] != 0] for a in pairs]  # nan, as with a compiler
        if name in ("pow", "__pow__") and dtype in INTEGERS:
            pairs[1] = np.where(pairs[1] < 0, np.array(2, dtype), pairs[1] % np.array(4, dtype))
        operands = [x] if name in UNARY or name[2:-2] in ("abs", "invert", "neg", "pos") else pairs
        try:
            wanted = call(strict, *[strict.asarray(v) for v in operands])
        except (TypeError, ValueError):
            return  # no function of this dtype in the standard
        assert_same(call(jnp, *[jnp.asarray(v) for v in operands]), wanted, name not in ZEROS)


@pytest.mark.every(5)
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS, *COMPLEX])
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_elementwise(name, dtype):
    compare(name, dtype, lambda xp, *operands: getattr(xp, name)(*operands))


@pytest.mark.every(5)
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint8", *FLOATS, "complex64"])
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name, dtype):
    compare(name, dtype, lambda xp, x, *others: getattr(x, name)(*others))


@pytest.mark.every(3)
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "uint8"])
@pytest.mark.parametrize("call", CALLS)
def test_calls(call, dtype):
    if dtype != "float64" and ("x" not in call or "linalg" in call or "fft" in call):
        return
    results = []
    with np.errstate(all="ignore"), config.override(enable_x64=True):
        s = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 5.0]])
        for xp in (strict, jnp):
            names = {
                "x": xp.asarray(np.array([[3, 1, 2], [6, 5, 4]], dtype)),
                "s": xp.asarray(s),
                "z": xp.asarray(s + 1j * s[::-1]),
            }
            try:
                results.append(
                    eval(call if call in ("x", "s") else f"xp.{call}", {**names, "xp": xp})
                )
            except TypeError:
                if xp is strict:
                    return
                raise
    if "dtype" not in call and not hasattr(results[1], "names"):
        assert_same(results[1], results[0])


@pytest.mark.parametrize("name", ["expand_dims", "sum", "squeeze", "flip", "argmax", "unstack"])
def test_an_axis_out_of_bounds_is_an_index_error(name):
    with pytest.raises(IndexError) as caught:
        getattr(jnp, name)(jnp.zeros((2, 1)), axis=5)
    assert isinstance(caught.value, ValueError)  # as in JAX
