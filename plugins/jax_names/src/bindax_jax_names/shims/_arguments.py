"""Functions with arguments of JAX that change nothing here, such as places on devices."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from bindax_core.extend import api_boundary


def ignoring(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """The function, which takes some keyword arguments more and does not use them."""

    @api_boundary  # messages begin with the name of the function
    @wraps(function)
    def taking(*args: Any, **kwargs: Any) -> Any:
        for name in names:
            kwargs.pop(name, None)
        return function(*args, **kwargs)

    return taking
