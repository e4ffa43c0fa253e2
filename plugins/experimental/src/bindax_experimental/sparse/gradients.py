"""Derivatives by sparse arrays: they are sparse, with the same positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bindax_transforms as transforms
from bindax_core.extend import api_boundary, tree_flatten, tree_unflatten, wraps
from bindax_experimental.sparse.bcoo import BCOO
from bindax_lax_basic.extend import static_ints
from bindax_transforms import check_function


def _is_sparse(x: Any) -> bool:
    return isinstance(x, BCOO)


def _by_data(
    transform: Callable[..., Any], fun: Callable[..., Any], argnums: Any, **options: Any
) -> Any:
    """Differentiate by the entries of sparse arguments, which have no derivative by positions."""
    name = transform.__name__
    check_function(name, "fun", fun)

    @wraps(fun)
    @api_boundary
    def derivative(*args: Any, **kwargs: Any) -> Any:
        chosen = _chosen(name, argnums, len(args))
        leaves, tree = tree_flatten([args[i] for i in chosen], is_leaf=_is_sparse)
        numbers = [x.data if _is_sparse(x) else x for x in leaves]

        def of_numbers(data: Sequence[Any]) -> Any:
            made = [
                x.replaced(d) if _is_sparse(x) else d for x, d in zip(leaves, data, strict=True)
            ]
            given = list(args)
            for i, value in zip(chosen, tree_unflatten(tree, made), strict=True):
                given[i] = value
            return fun(*given, **kwargs)

        def restored(found: Sequence[Any]) -> Any:
            made = [_like(x, d) for x, d in zip(leaves, found, strict=True)]
            values = tree_unflatten(tree, made)
            return values[0] if isinstance(argnums, int) else tuple(values)

        return transform(of_numbers, **options)(numbers), restored

    return derivative


def _chosen(name: str, argnums: Any, count: int) -> tuple[int, ...]:
    """The positions of arguments that a function is differentiated by."""
    chosen = static_ints(name, "argnums", argnums)
    if not chosen or not all(-count <= i < count for i in chosen):
        raise ValueError(
            f"argnums={argnums!r} of {name} must name at least one of the {count} positional "
            f"arguments that the function was called with."
        )
    return chosen


def _like(x: Any, data: Any) -> Any:
    """A derivative with the positions of its argument, if it has the argument's shape."""
    return x.replaced(data) if _is_sparse(x) and data.shape == x.data.shape else data


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., Any]:
    """The gradient of a function of arrays, sparse ones among them.

    Args:
        fun: a function whose value is a scalar.
        argnums: by which arguments; that by a sparse one is sparse.
        has_aux: whether ``fun`` returns a pair whose second part is passed through.
        kwargs: what ``bindax.grad`` takes besides.

    >>> from bindax_experimental.sparse import eye
    >>> grad(lambda m: (m @ m.todense()).sum())(eye(2)).data.tolist()
    [2.0, 2.0]
    """
    derivative = _by_data(transforms.grad, fun, argnums, has_aux=has_aux, **kwargs)

    @wraps(fun)
    @api_boundary
    def gradient(*args: Any, **kwargs: Any) -> Any:
        out, restored = derivative(*args, **kwargs)
        return (restored(out[0]), out[1]) if has_aux else restored(out)

    return gradient


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, **kwargs: Any
) -> Callable[..., Any]:
    """The value and the gradient of a function of arrays, sparse ones among them.

    Args:
        fun: a function whose value is a scalar.
        argnums: by which arguments; the gradient by a sparse one is sparse.
        has_aux: whether ``fun`` returns a pair whose second part is passed through.
        kwargs: what ``bindax.value_and_grad`` takes besides.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> value, gradient = value_and_grad(lambda m: m.todense().sum())(m)
    >>> float(value), gradient.shape
    (3.0, (2, 2))
    """
    derivative = _by_data(transforms.value_and_grad, fun, argnums, has_aux=has_aux, **kwargs)

    @wraps(fun)
    @api_boundary
    def both(*args: Any, **kwargs: Any) -> Any:
        (value, found), restored = derivative(*args, **kwargs)
        return value, restored(found)

    return both


def jacfwd(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, **kwargs: Any) -> Any:
    """The Jacobian of a function of arrays, sparse ones among them, by their entries.

    Args:
        fun: a function whose value is an array.
        argnums: by which arguments; a part by a sparse one has an axis for its entries last.
        kwargs: what ``bindax.jacfwd`` takes besides.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> jacfwd(lambda m: m.todense().sum())(m).shape
    (2,)
    """
    derivative = _by_data(transforms.jacfwd, fun, argnums, **kwargs)

    @wraps(fun)
    @api_boundary
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        return _matrix(derivative(*args, **kwargs)[0], argnums)

    return jacobian


def jacrev(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, **kwargs: Any) -> Any:
    """The same Jacobian in reverse mode; arguments as for ``jacfwd``.

    >>> import numpy as np
    >>> from bindax_experimental.sparse import BCOO
    >>> m = BCOO.fromdense(np.array([[0.0, 1.0], [2.0, 0.0]]))
    >>> jacrev(lambda m: m.todense().sum())(m).shape
    (2,)
    """
    derivative = _by_data(transforms.jacrev, fun, argnums, **kwargs)

    @wraps(fun)
    @api_boundary
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        return _matrix(derivative(*args, **kwargs)[0], argnums)

    return jacobian


jacobian = jacrev


def _matrix(found: Any, argnums: int | Sequence[int]) -> Any:
    return found[0] if isinstance(argnums, int) and len(found) == 1 else found
