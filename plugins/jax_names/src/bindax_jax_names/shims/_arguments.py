"""Functions with arguments of JAX that change nothing here, such as places on devices."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import bindax
from bindax_core.extend import api_boundary


def ignoring(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """The function, which takes some keyword arguments more and does not use them."""

    @wraps(function)
    @api_boundary
    def taking(*args: Any, **kwargs: Any) -> Any:
        for name in names:
            kwargs.pop(name, None)
        return function(*args, **kwargs)

    return taking


def check_only_device(function: str, name: str, device: Any) -> None:
    """Raise when a device is named that is not among those of the default backend."""
    if device is not None and not isinstance(device, str) and device not in bindax.devices():
        raise ValueError(f"{function}: {name} is {device!r}, but there are {bindax.devices()}.")
