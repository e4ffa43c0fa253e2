"""The setting of the name ``jax``."""

from __future__ import annotations

import re
from typing import Any

from bindax_core.extend import Setting

JAX_VERSION = "0.12.0.1"
"""The newest release of JAX whose names are known, and the one that the alias says it is."""


def _release(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+){2,3}", value):
        return value
    raise ValueError("a release such as '0.10.2'")


jax_release: Setting = Setting(
    "jax_release",
    JAX_VERSION,
    """the release of JAX that the name ``jax`` says it is, as programs and packages branch on it.
    Where releases decide differently, functions follow the one that is named""",
    check=_release,
)
