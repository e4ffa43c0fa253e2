"""Attributes that do not exist are refused with the name that was probably meant."""

from __future__ import annotations

from typing import Any

import pytest

import bindax
import bindax.extend
import bindax.numpy as jnp
from bindax.extend import rules
from bindax_core.errors import _suggestion

CASES: list[tuple[Any, str, str]] = [
    (rules, "jpv", "module 'bindax.extend.rules' has no attribute 'jpv'. Did you mean 'jvp'?"),
    (rules, "transpos", "Did you mean 'transpose'?"),
    (bindax.extend, "Primitve", "module 'bindax.extend' has no attribute 'Primitve'. Did you mean"),
    (bindax, "gard", "module 'bindax' has no attribute 'gard'. Did you mean 'grad'?"),
    (bindax.lax, "while_lop", "module 'bindax.lax' has no attribute 'while_lop'. Did you mean"),
    (bindax.nn, "initializer", "Did you mean 'initializers'?"),
    (bindax.scipy, "specal", "Did you mean 'special'?"),
    (jnp.ones(2), "reshap", "Did you mean 'reshape'?"),
]


@pytest.mark.parametrize(("owner", "name", "text"), CASES)
def test_a_misspelt_name_is_answered_with_the_nearest(owner: Any, name: str, text: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert text in str(caught.value)


def test_a_name_that_is_asked_for_again_is_not_searched_for_again() -> None:
    x = jnp.ones(2)
    for owner in (x, bindax):
        with pytest.raises(AttributeError, match="no attribute 'index_of_colums'"):
            getattr(owner, "index_of_colums")  # noqa: B009
        before = _suggestion.cache_info()
        assert not hasattr(owner, "index_of_colums")
        assert _suggestion.cache_info().hits == before.hits + 1


def test_nothing_is_suggested_where_nothing_is_near() -> None:
    with pytest.raises(AttributeError, match=r"^module 'bindax' has no attribute 'qqqqqqq'$"):
        _ = bindax.qqqqqqq
    assert not hasattr(bindax, "__path_of_nothing__")
