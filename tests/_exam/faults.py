"""The faulty functions of all families, each with what has to be blamed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """A function with a mistake.

    Attributes:
        function: what is checked, an attribute of a module.
        args: arguments that show the mistake.
        culprit: the function whose definition is wrong; its wrong line ends in ``# wrong``.
        claims: keyword arguments of the check.
    """

    function: Any
    args: tuple[Any, ...]
    culprit: Callable[..., Any]
    claims: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The name of what is checked."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def place(self) -> str:
        """The file and the first line of the culprit, as reports write it."""
        code = inspect.unwrap(self.culprit).__code__
        return f"{code.co_filename}:{code.co_firstlineno}"

    @property
    def wrong_line(self) -> int:
        """The line with the mistake."""
        lines, first = inspect.getsourcelines(inspect.unwrap(self.culprit))
        return first + next(i for i, line in enumerate(lines) if "# wrong" in line)


def all_faults() -> dict[str, list[Fault]]:
    """The faults by family."""
    from _exam import (
        callback_faults,
        custom_jvp_faults,
        custom_vjp_faults,
        foreign_faults,
        module_faults,
        rule_faults,
    )

    return {
        "custom_vjp": custom_vjp_faults.FAULTS,
        "custom_jvp": custom_jvp_faults.FAULTS,
        "callbacks": callback_faults.FAULTS,
        "foreign calls": foreign_faults.FAULTS,
        "modules": module_faults.FAULTS,
        "rules": rule_faults.FAULTS,
    }
