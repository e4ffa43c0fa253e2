"""The settings of tracing, derived rules, ``jit`` and the search for mistakes."""

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
no_tracing: Setting = Setting(
    "no_tracing",
    False,
    "``jit`` raises an error instead of tracing a function: what is called has been traced before",
)
no_execution: Setting = Setting(
    "no_execution", False, "``jit`` raises an error instead of running a compiled program"
)
debug_nans: Setting = Setting(
    "debug_nans",
    False,
    """raise an error that names the primitive and the line where a NaN comes from, inside compiled
    programs too. Each result is looked at, and a program that has one is interpreted again, effects
    included. Costs nothing when off""",
)
debug_infs: Setting = Setting(
    "debug_infs", False, "raise an error where an infinity comes from, as ``debug_nans`` for NaNs"
)
check_tracer_leaks: Setting = Setting(
    "check_tracer_leaks",
    False,
    """raise at the end of each trace when a value that was traced in it is still kept somewhere.
    Slow; costs nothing when off""",
)
