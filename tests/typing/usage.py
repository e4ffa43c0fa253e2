"""What type checkers see of the public names; checked by mypy in CI."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, assert_type

import bindax
from bindax import lax
from bindax.typing import ArrayLike


def loss(weights: ArrayLike, scale: float = 1.0) -> bindax.Array:
    return lax.reduce_sum(lax.mul(weights, scale))


compiled = bindax.jit(loss)
assert_type(compiled(1.0, 2.0), bindax.Array)


@bindax.jit
def decorated(x: bindax.Array) -> bindax.Array:
    return x


@bindax.jit(static_argnames="n")
def with_options(x: bindax.Array, n: int) -> bindax.Array:
    return x


assert_type(with_options(lax.sin(1.0), 3), bindax.Array)
assert_type(lax.sin(1.0), bindax.Array)
assert_type(bindax.grad(loss), Callable[..., Any])
assert_type(bindax.value_and_grad(loss)(1.0), tuple[Any, Any])
assert_type(lax.sin(1.0).shape, tuple[int, ...])
assert_type(bindax.typeof(1.0).shape, Any)
assert_type(bindax.config.eager, Literal["numpy", "compile"])
assert_type(bindax.config.debug_nans, bool)
assert_type(bindax.config.dtype_bits, Literal[32, 64])

if TYPE_CHECKING:
    bindax.config.enable_x64 = "yes"  # type: ignore[assignment]  # no such choice
    assert_type(bindax.config.of_another_package, Any)
    decorated(1, 2)  # type: ignore[call-arg, arg-type]  # too many arguments
    with_options(lax.sin(1.0), m=3)  # type: ignore[call-arg]  # no such parameter
    bindax.jit(3)  # type: ignore[call-overload]  # not a function
