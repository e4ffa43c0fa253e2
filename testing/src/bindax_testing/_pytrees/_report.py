"""Results of checks, as data and as text: planned, run, skipped and found."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import attrs

PyTreeStatus: TypeAlias = Literal["passed", "failed", "skipped", "expected failure"]


class PyTreeConformanceError(AssertionError):
    """A definition does not keep the contract; the message lists what failed.

    >>> issubclass(PyTreeConformanceError, AssertionError)
    True
    """


@attrs.frozen
class PyTreeCheck:
    """The outcome of one check of one definition.

    Attributes:
        check: the name of the check.
        type: the checked type, with its module.
        path: where in the example the node is, as Python writes it; empty at the root.
        status: passed, failed, skipped, or expected failure.
        reason: what is wrong and what to do, or why it was skipped; empty when it passed.

    >>> from bindax_testing import check_pytree
    >>> all(isinstance(one, PyTreeCheck) for one in check_pytree((1.0, 2.0)).results)
    True
    """

    check: str
    type: str
    path: str
    status: PyTreeStatus
    reason: str = ""

    def __str__(self) -> str:
        where = f"at {self.path}" if self.path else "at the root"
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.status}: {self.check}, {self.type} {where}{reason}"


@attrs.frozen
class PyTreeReport:
    """The results of ``check_pytree``.

    Attributes:
        results: one for each planned check of each node, in the order in which they ran.
    """

    results: tuple[PyTreeCheck, ...]

    def of_status(self, status: PyTreeStatus) -> tuple[PyTreeCheck, ...]:
        """The results with a status."""
        return tuple(result for result in self.results if result.status == status)

    @property
    def failures(self) -> tuple[PyTreeCheck, ...]:
        """The checks that failed without being expected to."""
        return self.of_status("failed")

    @property
    def ok(self) -> bool:
        """True if something was checked, and nothing failed."""
        return bool(self.of_status("passed")) and not self.failures

    def raise_if_failed(self) -> None:
        """Raise unless all is well; for tests.

        Raises:
            PyTreeConformanceError: something failed, or nothing was checked.
        """
        if not self.ok:
            raise PyTreeConformanceError(str(self))

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "ok": self.ok,
            "planned": len(self.results),
            "results": [attrs.asdict(result) for result in self.results],
        }

    def __str__(self) -> str:
        counts = {
            "planned": len(self.results),
            "passed": len(self.of_status("passed")),
            "failed": len(self.failures),
            "skipped": len(self.of_status("skipped")),
            "expected to fail": len(self.of_status("expected failure")),
        }
        head = ", ".join(f"{count} {name}" for name, count in counts.items())
        shown = [str(result) for result in self.results if result.status != "passed"]
        return "\n".join([f"PyTreeReport: {head}", *shown])
