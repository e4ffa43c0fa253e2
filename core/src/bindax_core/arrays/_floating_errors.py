"""NumPy's floating-point warnings, which evaluation turns off around each ``impl`` rule.

XLA computes ``log(0)`` and overflows without a word, and so must evaluation. The state is NumPy's
own, for the thread or task at hand; the user's code never runs under it.
"""

from __future__ import annotations

import contextvars
from typing import Any

import numpy as np


class _SlowState:
    """The two methods of a ``ContextVar``, by NumPy's documented functions."""

    def set(self, state: dict[str, Any]) -> dict[str, Any]:
        return dict(np.seterr(**state))

    def reset(self, previous: dict[str, Any]) -> None:
        np.seterr(**previous)


def _find_state() -> tuple[Any, Any]:
    """Find the variable that holds NumPy's handling of errors, and its value that ignores all.

    To set its context variable is several times faster than to enter ``np.errstate``.
    """
    with np.errstate(all="ignore"):
        for variable, value in contextvars.copy_context().items():
            if variable.name == "numpy.ufunc.extobj":
                return variable, value
        return _SlowState(), np.geterr()


floating_errors, IGNORED = _find_state()
"""The variable that holds the handling of errors, and the value that ignores all of them."""
