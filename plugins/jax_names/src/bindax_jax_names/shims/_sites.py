"""The line of a package that registers something, so that what it registers is known as its own."""

from __future__ import annotations

import sys
from typing import Any

from bindax_core.extend import Rule


def package_frame() -> tuple[str, str, int]:
    """The module, file and line that called into this package."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None:
        module = str(frame.f_globals.get("__name__", "?"))
        if not module.startswith("bindax_jax_names.") or ".beside." in module:
            break
        frame = frame.f_back
    module = str(frame.f_globals.get("__name__", "?")).removeprefix("bindax_jax_names.beside.")
    return module, frame.f_code.co_filename, frame.f_lineno


def of_package(rule: Rule) -> Rule:
    """The rule, as declared by the package that called."""
    return rule.replace(site=type(rule.site)(*package_frame()))
