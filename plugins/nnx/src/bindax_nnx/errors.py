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
