"""A mistake in a rule, as a function around the rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

Rule = Callable[..., Any]


@attrs.frozen
class Damage:
    """One kind of mistake.

    Attributes:
        name: what reports call it.
        apply: takes the true rule, its positional arguments and its parameters; gives the wrong
            result, or None where the mistake would change nothing.
    """

    name: str
    apply: Callable[[Rule, Sequence[Any], dict[str, Any]], Any]
