"""The settings of tracing, derived rules and ``jit``."""

from __future__ import annotations

from contextlib import AbstractContextManager

from bindax_core.extend import Setting

check_jaxprs: Setting = Setting("check_jaxprs", False, "type-check every jaxpr that is built")
derived_rules: Setting = Setting(
    "derived_rules",
    "notice",
    """``"notice"`` warns once for each primitive that runs on a derived rule, ``"error"`` raises,
    ``"silent"`` does neither""",
    choices=("notice", "error", "silent"),
)


class _DisableJit(Setting):
    def __call__(self, disable: bool = True) -> AbstractContextManager[None]:
        return super().__call__(disable)


disable_jit: _DisableJit = _DisableJit(
    "disable_jit",
    False,
    "``jit`` calls the function itself, operation by operation, with concrete values",
)
log_compiles: Setting = Setting(
    "log_compiles",
    False,
    """log each program that ``jit`` traces and compiles, with the time it takes, by the logger
    ``"bindax"`` as a warning""",
)
explain_cache_misses: Setting = Setting(
    "explain_cache_misses",
    False,
    'log why ``jit`` traces a function again, by the logger ``"bindax"``',
)
