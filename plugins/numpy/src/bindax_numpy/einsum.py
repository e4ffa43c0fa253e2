"""Einstein's summation convention."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, is_value, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    broadcast_to,
    canonical_dtype,
    constant,
    convert,
    refuse_out,
)
from bindax_numpy._operands import (
    array_operand,
    together,
)
from bindax_numpy.dot_matmul import contract
from bindax_transforms import evaluated
from bindax_transforms.extend import decided

Labels = tuple[str, ...]
Term = tuple[Any, Labels]


@evaluated
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: Any = "auto",
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Sums of products over named axes.

    Args:
        subscripts: a letter for each axis of each operand, and those of the result, as in
            "ij,jk->ik". A letter that is not in the result is summed over; one that is twice in an
            operand takes its diagonal; "..." stands for axes that broadcast. Without "->" the
            letters of the result are those that occur once, in alphabetical order. In their place,
            the arrays may each be followed by a list of integers, and a last one for the result.
        *operands: the arrays. They are contracted from left to right.
        out: None.
        optimize: accepted for compatibility.
        precision: how precisely a backend multiplies: None, "default", "high" or "highest".
        preferred_element_type: the dtype to compute in and return.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when subscripts and operands do not agree.

    >>> jnp.einsum("ij,j->i", jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    >>> jnp.einsum("ii", jnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    refuse_out("einsum", out)
    if out_sharding is not None:
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        return decided(einsum, out_sharding, (subscripts, *operands), options)
    terms, output = _terms(subscripts, operands)
    while len(terms) > 1:
        needed = {*output, *(label for _, labels in terms[2:] for label in labels)}
        terms[:2] = [_join(terms[0], terms[1], needed, precision, preferred_element_type)]
    x, labels = _sum_out(terms[0], set(output))
    if labels != output:
        x = lax.transpose(x, [labels.index(label) for label in output])
    if preferred_element_type is not None:
        x = convert(x, canonical_dtype(preferred_element_type), False)
    return x


def _terms(subscripts: Any, operands: Sequence[Any]) -> tuple[list[Term], Labels]:
    """The operands with a label for each axis, none of them twice, and the labels of the result."""
    if is_value(subscripts) and not isinstance(subscripts, str):
        subscripts, operands = _named("einsum", (subscripts, *operands))
    if not isinstance(subscripts, str):
        raise TypeError(
            f"einsum takes its subscripts as text, for example 'ij,jk->ik', but got "
            f"{subscripts!r:.60}."
        )
    if not operands:
        raise ValueError("einsum needs at least one array beside the subscripts.")
    arrays = together("einsum", *operands)
    inputs, output = _parse(subscripts, [typeof(x).ndim for x in arrays])
    sizes = _sizes(subscripts, arrays, inputs)
    terms = [
        _without_repeats(broadcast_to(x, tuple(sizes[label] for label in labels)), labels)
        for x, labels in zip(arrays, inputs, strict=True)
    ]
    return terms, output


def _parse(subscripts: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """The labels of each operand and of the result; axes of an ellipsis are digits."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    names = left.split(",")
    if len(names) != len(ranks):
        raise ValueError(
            f"einsum: {subscripts!r} names {len(names)} operands, but there are {len(ranks)}."
        )
    hidden = 0
    for name, rank in zip(names, ranks, strict=True):
        letters = name.replace("...", "", 1)
        if not all(letter.isalnum() for letter in letters):
            raise ValueError(
                f"einsum: subscripts are letters, digits, '...', ',' and '->', but got "
                f"{subscripts!r}."
            )
        spare = rank - len(letters)
        if spare < 0 or (spare > 0 and "..." not in name):
            raise ValueError(
                f"einsum: {name!r} in {subscripts!r} names {len(letters)} axes, but the operand "
                f"has {rank}."
            )
        hidden = max(hidden, spare)
    inputs = [_labels(name, rank, hidden) for name, rank in zip(names, ranks, strict=True)]
    every = [label for labels in inputs for label in labels]
    dots = tuple(f".{i}" for i in range(hidden))
    if not arrow:
        once = sorted(label for label in set(every) if every.count(label) == 1 and label.isalnum())
        return inputs, (*dots, *once)
    output = _labels(right, len(right.replace("...", "", 1)) + hidden, hidden)
    unknown = [label for label in output if label not in every or output.count(label) > 1]
    if unknown:
        raise ValueError(
            f"einsum: the result of {subscripts!r} must name axes of the operands, each once."
        )
    return inputs, output


def _labels(name: str, rank: int, hidden: int) -> Labels:
    before, dots, after = name.partition("...")
    if not dots:
        return tuple(name)
    spare = rank - len(before) - len(after)
    return (*before, *(f".{i}" for i in range(hidden - spare, hidden)), *after)


def _sizes(subscripts: str, arrays: Sequence[Any], inputs: Sequence[Labels]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for x, labels in zip(arrays, inputs, strict=True):
        for label, size in zip(labels, typeof(x).shape, strict=True):
            known = sizes.setdefault(label, size)
            if size != known and 1 not in (size, known):
                raise ValueError(
                    f"einsum: the axes {label!r} of {subscripts!r} have sizes {known} and {size}."
                )
            sizes[label] = size if known == 1 else known
    return sizes


def _without_repeats(x: Any, labels: Labels) -> Term:
    """The diagonal over axes that have the same label."""
    while len(set(labels)) < len(labels):
        i = next(i for i, label in enumerate(labels) if label in labels[i + 1 :])
        j = labels.index(labels[i], i + 1)
        shape = typeof(x).shape
        row, column = (lax.broadcasted_iota("int32", shape, axis) for axis in (i, j))
        zeros = broadcast_to(constant(0, x), shape)
        x = _total(lax.select(lax.eq(row, column), x, zeros), (j,))
        labels = labels[:j] + labels[j + 1 :]
    return x, labels


def _sum_out(term: Term, needed: set[str]) -> Term:
    """Sum over the axes whose label nothing needs."""
    x, labels = term
    axes = tuple(i for i, label in enumerate(labels) if label not in needed)
    kept = tuple(label for label in labels if label in needed)
    return (_total(x, axes) if axes else x), kept


def _total(x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over axes; of booleans, whether one of them holds."""
    return (lax.reduce_or if typeof(x).dtype == dtypes.bool_ else lax.reduce_sum)(x, axes)


def _join(
    left: Term, right: Term, needed: set[str], precision: Any, preferred_element_type: Any
) -> Term:
    """The product of two operands, summed over what they share and nothing else needs."""
    a, first = _sum_out(left, needed | set(right[1]))
    b, second = _sum_out(right, needed | set(first))
    shared = [label for label in first if label in second]
    batch = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]

    def places(labels: Labels, wanted: list[str]) -> tuple[int, ...]:
        return tuple(labels.index(label) for label in wanted)

    out = contract(
        a,
        b,
        (places(first, summed), places(second, summed)),
        (places(first, batch), places(second, batch)),
        precision,
        preferred_element_type,
    )
    rest = [label for label in (*first, *second) if label not in shared]
    return out, (*batch, *rest)


def _named(name: str, given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Subscripts as text, of operands that are each followed by a list of integers."""
    output = given[-1] if len(given) % 2 else None
    paired = given[: len(given) - (output is not None)]
    lists = [*paired[1::2], *([] if output is None else [output])]
    numbers = sorted({i for part in lists for i in _axes_list(name, part) if i is not Ellipsis})
    letters = dict(zip(numbers, string.ascii_letters, strict=False))
    texts = ["".join("..." if i is Ellipsis else letters[i] for i in part) for part in lists]
    if output is None:
        return ",".join(texts), paired[0::2]
    return f"{','.join(texts[:-1])}->{texts[-1]}", paired[0::2]


def _axes_list(name: str, part: Any) -> Any:
    if not isinstance(part, (list, tuple)):
        raise TypeError(f"{name}: after an array comes a list of integers, but got {part!r:.60}.")
    return part


def einsum_path(
    subscripts: Any, /, *operands: Any, optimize: Any = "auto"
) -> tuple[list[Any], str]:
    """The order in which NumPy would contract the operands of ``einsum``, and what it costs.

    Args:
        subscripts: as for ``einsum``.
        *operands: the arrays, of which the shapes matter alone.
        optimize: how the order is looked for: False, "greedy" or "optimal"; "auto" and True are
            the latter for few operands.

    Returns:
        The order, for ``optimize`` of ``einsum``, and a text about its cost.

    >>> x = jnp.ones((2, 2))
    >>> jnp.einsum_path("ij,jk,kl->il", x, x, x)[0]
    [(0, 1), (0, 1)]
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _named("einsum_path", (subscripts, *operands))
    if optimize in ("auto", True):
        optimize = "optimal" if len(operands) < 5 else "greedy"
    shapes = [typeof(array_operand("einsum_path", x)).shape for x in operands]
    path, text = np.einsum_path(
        subscripts, *[np.broadcast_to(0.0, shape) for shape in shapes], optimize=optimize
    )
    return path[1:], text
