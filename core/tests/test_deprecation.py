"""Deprecated functions warn for two minor versions, and name what to use."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator

import pytest

from bindax_core import _deprecation
from bindax_core.extend import deprecated


@pytest.fixture(autouse=True)
def others() -> Iterator[None]:
    """Forget what a test declares."""
    before = list(_deprecation.deprecations)
    yield
    _deprecation.deprecations[:] = before


def test_each_use_warns_at_the_line_of_the_user() -> None:
    @deprecated("bindax.lax.old", replacement="bindax.lax.new", since="0.9")
    def old(x: float, *, scale: float = 2.0) -> float:
        """Scale a number."""
        return scale * x

    text = (
        "bindax.lax.old is deprecated since bindax 0.9 and is removed in 0.11; use bindax.lax.new."
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert old(1.0, scale=3.0) == 3.0
    (warning,) = caught
    assert (warning.category, str(warning.message)) == (DeprecationWarning, text)
    assert warning.filename == __file__
    assert list(inspect.signature(old).parameters) == ["x", "scale"]
    assert old.__doc__ == "Scale a number."
    declared = _deprecation.Deprecation("bindax.lax.old", "bindax.lax.new", "0.9")
    assert _deprecation.deprecations[-1] == declared


@pytest.mark.parametrize("since", ["", "next", "0.2.1"])
def test_a_version_is_major_and_minor(since: str) -> None:
    with pytest.raises(ValueError, match=rf"'old'.*such as '0\.2', but is {since!r}\."):
        deprecated("old", replacement="new", since=since)
