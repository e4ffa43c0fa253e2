"""Sparse Jacobians and Hessians, evaluated along the sums of columns that share no row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import api_boundary, as_array, typeof
from bindax_example_sparsity.coloring import color_columns
from bindax_example_sparsity.pattern import Pattern, sparsity_pattern
from bindax_experimental import sparse
from bindax_transforms import grad, jit, jvp, vjp, vmap

FORMATS = ("bcoo", "scipy", "dense")
MODES = ("forward", "reverse")


class _Plan(NamedTuple):
    """The seeds of one pattern, and where its places are in what they give."""

    pattern: Pattern
    mode: str
    seeds: np.ndarray[Any, Any]  # by colours and elements of what is varied
    color: np.ndarray[Any, Any]  # of each place
    element: np.ndarray[Any, Any]  # of each place, in the compressed matrix


@api_boundary
def sparse_jacobian(
    fun: Callable[..., Any],
    *,
    argnums: int = 0,
    pattern: Pattern | None = None,
    mode: str | None = None,
    format: str = "bcoo",
) -> Callable[..., Any]:
    """Compute the Jacobian of a function whose elements are mostly zero.

    Columns (or rows) that have no place in common are computed together: by one ``jvp`` (or
    ``vjp``) for each colour of a colouring, and all of them by one ``vmap``.

    Args:
        fun: a function of arrays that returns one array.
        argnums: the argument that is differentiated.
        pattern: where elements may be other than zero; found by ``sparsity_pattern`` where it is
            None, once for the types of arguments.
        mode: ``"forward"`` for ``jvp``, ``"reverse"`` for ``vjp``; None for that with fewer
            colours. A function with a ``custom_vjp`` rule needs ``"reverse"``.
        format: ``"bcoo"`` for a ``BCOO`` array, ``"scipy"`` for a SciPy array in the format CSR,
            ``"dense"`` for an array. The first and the last go with ``jit`` and ``vmap``.

    Returns:
        A function of the arguments that returns the Jacobian as a matrix: a row for each element of
        the result, a column for each element of the argument, in the order of memory.

    Raises:
        ValueError: when ``format`` or ``mode`` is none of those.
        TypeError: at a call, when the result is not one array.

    >>> import numpy as np
    >>> sparse_jacobian(lambda x: x[1:] * x[:-1], format="dense")(np.array([1.0, 2.0, 3.0]))
    Array([[2., 1., 0.],
           [0., 3., 2.]], dtype=float64)
    """
    if format not in FORMATS:
        raise ValueError(f"format must be 'bcoo', 'scipy' or 'dense', but it is {format!r}.")
    if mode not in (None, *MODES):
        raise ValueError(f"mode must be 'forward', 'reverse' or None, but it is {mode!r}.")
    plans: dict[Any, _Plan] = {}
    compiled: dict[Any, Callable[..., Any]] = {}

    def jacobian(*args: Any) -> Any:
        key = tuple((tuple(typeof(x).shape), typeof(x).dtype) for x in args)
        if key not in plans:
            plans[key] = _plan(fun, args, argnums, pattern, mode)
            compiled[key] = jit(_values(fun, argnums, plans[key]))
        return _as(format, compiled[key](*args), plans[key].pattern)

    return jacobian


@api_boundary
def sparse_hessian(
    fun: Callable[..., Any],
    *,
    argnums: int = 0,
    pattern: Pattern | None = None,
    format: str = "bcoo",
) -> Callable[..., Any]:
    """Compute the Hessian of a function whose elements are mostly zero.

    It is the sparse Jacobian of the gradient, forward over reverse.

    Args:
        fun: a function of arrays that returns a number.
        argnums: the argument that is differentiated.
        pattern: as for ``sparse_jacobian``.
        format: as for ``sparse_jacobian``.

    Returns:
        A function of the arguments that returns the Hessian as a matrix.

    Raises:
        ValueError: when ``format`` is none of those.

    >>> import numpy as np
    >>> sparse_hessian(lambda x: (x[1:] * x[:-1]).sum(), format="dense")(np.ones(3))
    Array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]], dtype=float64)
    """
    slope = grad(fun, argnums)
    return sparse_jacobian(slope, argnums=argnums, pattern=pattern, mode="forward", format=format)


def _plan(
    fun: Callable[..., Any], args: Any, argnums: int, pattern: Pattern | None, mode: str | None
) -> _Plan:
    found = pattern or sparsity_pattern(fun, argnums=argnums, mode=mode or "forward")(*args)
    ways = {}
    for way in MODES if mode is None else (mode,):
        turned = found if way == "forward" else Pattern(found.scipy().T)
        ways[way] = color_columns(turned)
    chosen = min(ways, key=lambda way: int(ways[way].max(initial=-1)))
    colors = ways[chosen]
    seeds = colors == np.arange(colors.max(initial=-1) + 1)[:, None]
    first, second = (found.cols, found.rows) if chosen == "forward" else (found.rows, found.cols)
    return _Plan(found, chosen, seeds, colors[first], second)


def _values(fun: Callable[..., Any], argnums: int, plan: _Plan) -> Callable[..., Any]:
    """The elements at the places of a pattern, as a function of the arguments."""

    def values(*args: Any) -> Any:
        def of_one(x: Any) -> Any:
            return fun(*args[:argnums], x, *args[argnums + 1 :])

        def pushed(seed: Any) -> Any:
            tangent = lax.reshape(seed, x.shape)
            return jvp(of_one, (x,), (tangent,))[1]

        def pulled(seed: Any) -> Any:
            out, pullback = vjp(of_one, x)
            return pullback(lax.reshape(lax.convert_element_type(seed, out.dtype), out.shape))[0]

        x = as_array(args[argnums])
        seeds = lax.convert_element_type(plan.seeds, x.dtype)
        rows = vmap(pushed if plan.mode == "forward" else pulled)(seeds)
        compressed = lax.reshape(rows, (len(plan.seeds), rows.size // max(len(plan.seeds), 1)))
        return compressed[plan.color, plan.element]

    return values


def _as(format: str, values: Any, pattern: Pattern) -> Any:
    """The matrix with some values at its places."""
    indices = np.stack([pattern.rows, pattern.cols], axis=1)
    if format == "scipy":
        import scipy.sparse as sp

        return sp.csr_array((np.asarray(values), (pattern.rows, pattern.cols)), pattern.shape)
    bcoo = sparse.BCOO(
        (values, as_array(indices)), shape=pattern.shape, indices_sorted=True, unique_indices=True
    )
    return bcoo if format == "bcoo" else bcoo.todense()
