"""Trees of bindax and of JAX side by side."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from bindax import tree_util


def leaves_of_ours(tree: Any) -> dict[str, Any]:
    """The leaves by their paths."""
    return {tree_util.keystr(path): x for path, x in tree_util.tree_flatten_with_path(tree)[0]}


def leaves_of_theirs(tree: Any) -> dict[str, Any]:
    """The leaves by their paths; keys are those of bindax in bits."""
    pairs = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {jax.tree_util.keystr(path): x for path, x in pairs}


def types(leaves: dict[str, Any]) -> dict[str, Any]:
    """The shapes and dtypes by the paths."""
    return {path: (np.shape(x), str(x.dtype)) for path, x in leaves.items()}


def assert_close(ours: Any, theirs: Any, rtol: float = 1e-5, atol: float = 1e-5) -> None:
    """Compare the structures, the dtypes and the numbers of two trees."""
    found, expected = leaves_of_ours(ours), leaves_of_theirs(theirs)
    assert types(found) == types(expected)
    for path, x in expected.items():
        if jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key):
            continue
        np.testing.assert_allclose(
            np.asarray(found[path]).astype("f8"),
            np.asarray(x).astype("f8"),
            rtol=rtol,
            atol=atol,
            err_msg=path,
        )


def greatest_difference(ours: Any, theirs: Any) -> float:
    """The greatest difference of numbers, relative where they are above 1."""
    pairs = zip(leaves_of_ours(ours).values(), leaves_of_theirs(theirs).values(), strict=True)
    differences = [
        np.max(np.abs(np.asarray(x) - np.asarray(y)) / np.maximum(1, np.abs(np.asarray(y))))
        for x, y in pairs
    ]
    return float(max(differences, default=0.0))
