"""The errors of modules."""

from bindax_core.errors import BindaxError


class TraceContextError(BindaxError, ValueError):
    """An object was changed in another transformation than the one it belongs to.

    >>> from bindax_nnx import Variable, jit
    >>> count = Variable(0)
    >>> def add(x):
    ...     count.value += x
    >>> try:
    ...     jit(add)(1)
    ... except TraceContextError:
    ...     print("pass the variable as an argument")
    pass the variable as an argument
    """


class AliasingError(BindaxError, ValueError):
    """One variable was asked to be transformed in two ways.

    >>> from bindax_nnx import Linear, Rngs, compat
    >>> layer = Linear(2, 3, rngs=Rngs(0))
    >>> try:
    ...     compat.vmap(lambda a, b: None, in_axes=(0, None))(layer, layer)
    ... except AliasingError:
    ...     print("one layer cannot be mapped and not mapped")
    one layer cannot be mapped and not mapped
    """


class GraphError(BindaxError, ValueError):
    """A graph of objects cannot be taken apart, put together or updated.

    >>> from bindax_nnx import Linear, Rngs, merge, split
    >>> graph, state = split(Linear(2, 3, rngs=Rngs(0)))
    >>> try:
    ...     merge(graph, {})
    ... except GraphError:
    ...     print("the state lacks variables")
    the state lacks variables
    """


class CheckpointError(BindaxError, ValueError):
    """A checkpoint cannot be read, or does not fit.

    >>> from bindax_nnx import load
    >>> try:
    ...     load("no such file")
    ... except CheckpointError:
    ...     print("not there")
    not there
    """
