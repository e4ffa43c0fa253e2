"""The errors of modules."""

from bindax_core.errors import BindaxError


class TraceContextError(BindaxError, ValueError):
    """An object was changed in another transformation than the one it belongs to."""


class AliasingError(BindaxError, ValueError):
    """One variable was asked to be transformed in two ways."""


class GraphError(BindaxError, ValueError):
    """A graph of objects cannot be taken apart, put together or updated."""


class CheckpointError(BindaxError, ValueError):
    """A checkpoint cannot be read, or does not fit."""


class ArrayOutsideError(GraphError):
    """An attribute holds an array, and not a variable.

    Attributes:
        kind: the type of the array.
        path: the names of the attributes that lead to it.
        root: the name of the type of the object where they begin.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind
        self.path: list[str] = []
        self.root = "the argument"

    def __str__(self) -> str:
        return (
            f"{'.'.join([self.root, *self.path])} is an array ({self.kind}) outside of a Variable, "
            f"so it could not be tracked through transformations; hold it in a Variable, such as "
            f"Param, BatchStat or a kind of your own."
        )
