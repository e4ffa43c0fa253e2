"""The report of one program."""

from __future__ import annotations

from bindax_core.extend import ClosedJaxpr


class Report:
    """What a program computes, for arguments of the types that it was inspected with.

    Attributes:
        jaxpr: the program as it was staged.

    >>> import bindax_lax_basic as lax
    >>> from bindax_inspect import inspect
    >>> len(inspect(lax.sin)(1.0).jaxpr.eqns)
    1
    """

    def __init__(self, jaxpr: ClosedJaxpr) -> None:
        self.jaxpr: ClosedJaxpr = jaxpr
