"""Annotations of arrays that jaxtyping checks, in traced functions too."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray, Scalar, TypeCheckError, jaxtyped


def _check(annotation, value):
    return isinstance(value, annotation)


def main():
    x = jnp.ones((2, 3))
    found = [
        _check(Float[Array, "2 3"], x),
        _check(Float[Array, "n n"], x),
        _check(Int[Array, "..."], x),
        _check(Scalar, jnp.array(1.0)),
        _check(PRNGKeyArray, jax.random.key(0)),
    ]

    @jax.jit
    def traced(x):
        found.append(_check(Float[Array, "a b"], x))
        return x * 2

    with jaxtyped("context"):
        found += [_check(Float[Array, "n m"], x), _check(Float[Array, "m n"], x)]
    return traced(x), [str(one) for one in found], TypeCheckError.__name__
