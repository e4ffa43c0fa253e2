"""Values that are shown with counts of the numbers in them."""

from __future__ import annotations

from bindax_text import Displayed


class Counted(Displayed):
    """Base of variables and of objects that have variables."""

    __slots__ = ()

    def __bindax_note__(self) -> str:
        from bindax_nnx.counts import counts_text

        return counts_text(self)
