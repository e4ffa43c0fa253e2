"""Values of a class with ``__bindax_array__``, as another package could bring, as operands."""

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax import lax, nnx, random
from bindax.errors import AbstractionError
from bindax_core.extend import as_array, is_value, typeof, unwrapped

X = np.arange(6, dtype=np.float32).reshape(2, 3)


class Measured:
    """A quantity of a package that knows nothing of bindax but the name of the method."""

    def __init__(self, value, unit="m"):
        self.value, self.unit = value, unit

    def __bindax_array__(self):
        return self.value


class FromJax:
    def __jax_array__(self):
        return bnp.asarray(X)


CASES = {
    "lax.add": lambda x: lax.add(x, 1.0),
    "lax.dot_general": lambda x: lax.dot_general(x, X, (((1,), (1,)), ((), ()))),
    "lax.reshape": lambda x: lax.reshape(x, (6,)),
    "lax.select": lambda x: lax.select(X > 1, x, x),
    "dot": lambda x: bnp.dot(X.T, x),
    "sum": lambda x: bnp.sum(x, axis=0),
    "exp": bnp.exp,
    "einsum": lambda x: bnp.einsum("ij,kj", X, x),
    "where": lambda x: bnp.where(X > 2, x, 0.0),
    "stack": lambda x: bnp.stack([x, x]),
    "array": lambda x: bnp.array([x, x]),
    "operator": lambda x: bnp.ones((2, 3)) - x,
    "reflected": lambda x: x * bnp.ones((2, 3)),
    "at": lambda x: bnp.zeros((2, 3)).at[:].set(x),
    "scan": lambda x: lax.scan(lambda c, row: (c + row, c), bnp.zeros(3), x)[1],
    "cond": lambda x: lax.cond(True, lambda y: bnp.sin(y), lambda y: bnp.cos(y), x),
    "jit": lambda x: bindax.jit(lambda y: bnp.sin(y))(x),
    "vmap": lambda x: bindax.vmap(bnp.sum)(x),
    "grad": lambda x: bnp.asarray(bindax.grad(lambda y: bnp.sum(bnp.sin(y)))(x)),
    "linearize": lambda x: bindax.linearize(bnp.sin, x)[0],
    "gelu": bindax.nn.gelu,
    "norm": bnp.linalg.norm,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", [Measured, nnx.Param])
def test_a_wrapped_array_is_the_array(name, kind):
    f = CASES[name]
    expected = f(bnp.asarray(X))
    found = f(kind(bnp.asarray(X)))
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    with_numpy = f(kind(X))
    np.testing.assert_allclose(with_numpy, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["dot", "where", "scan", "jit", "at"])
def test_a_wrapped_tracer_is_the_tracer(name):
    f = CASES[name]
    expected = np.asarray(f(bnp.asarray(X)))
    compiled = bindax.jit(lambda x: f(Measured(x)))(X)
    np.testing.assert_allclose(compiled, expected, rtol=1e-6)
    mapped = bindax.vmap(lambda x: f(Measured(x)))(X[None])
    np.testing.assert_allclose(mapped[0], expected, rtol=1e-6)
    tangents = bindax.jvp(lambda x: f(Measured(x)), (X,), (X,))[1]
    np.testing.assert_allclose(tangents, bindax.jvp(f, (X,), (X,))[1], rtol=1e-6)


def test_the_innermost_tracer_takes_part_although_it_is_wrapped():
    # No operand but the wrapped one has a tracer, at two levels at once.
    def f(x):
        return bindax.grad(lambda y: lax.mul(Measured(y), Measured(x)))(2.0)

    assert float(bindax.grad(f)(3.0)) == 1.0
    assert float(bindax.jit(lambda x: lax.sin(Measured(x)))(0.5)) == pytest.approx(np.sin(0.5))


def test_wrapped_keys_indices_and_results():
    key = random.key(0)
    np.testing.assert_array_equal(random.normal(Measured(key), (3,)), random.normal(key, (3,)))
    np.testing.assert_array_equal(bnp.asarray(X)[Measured(np.array([1, 0]))], X[[1, 0]])
    assert type(bindax.jit(lambda x: Measured(x))(1.0)) is type(bnp.zeros(()))
    assert type(bindax.device_put(Measured(X))) is type(bnp.zeros(()))


def test_the_method_of_jax_counts_as_the_same():
    np.testing.assert_array_equal(bnp.sum(FromJax()), X.sum())
    np.testing.assert_array_equal(lax.neg(FromJax()), -X)


def test_the_functions_of_plugins_unwrap():
    inner = bnp.asarray(X)
    wrapped = Measured(Measured(inner))
    assert unwrapped(wrapped) is wrapped.value
    assert unwrapped(inner) is inner
    assert as_array(wrapped) is inner
    assert typeof(wrapped) is typeof(inner)
    assert is_value(wrapped)
    assert not is_value(Measured({"a": X}))


@pytest.mark.parametrize("f", [lax.sin, bindax.typeof, as_array, lambda x: x + bnp.ones(3)])
def test_a_wrapper_around_no_array_is_refused(f):
    with pytest.raises((AbstractionError, TypeError), match=r"not a legal operand|unsupported"):
        f(Measured("text"))
