"""Give the conformance suite the samples; the entry points name what the package brings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import hookimpl


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give programs of one device, with every collective, and the check of what varies."""
    from bindax_parallel._conformance import check_varying
    from bindax_parallel._samples import samples
    from bindax_testing import rule_check

    return [*samples(), rule_check("varying", check_varying)]


@hookimpl
def bindax_function_checks() -> Iterable[Any]:
    """Give the checks of functions of sharded arrays, and of collectives on backends."""
    from bindax_parallel._backend_checks import checks_of_collectives
    from bindax_parallel._function_checks import checks_of_sharding

    return [*checks_of_sharding(), *checks_of_collectives()]
