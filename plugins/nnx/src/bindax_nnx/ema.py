"""Averages of parameters over the steps of training."""

from __future__ import annotations

from typing import Any

from bindax_nnx.filters import Filter
from bindax_nnx.object import Object
from bindax_nnx.split_merge import clone, merge, split, state
from bindax_nnx.state import merge_state
from bindax_nnx.variables import Variable


class EMA(Object):
    """Exponential moving averages of the variables of a model (Polyak and Juditsky, 1992).

    Args:
        params: the model, whose values are the first averages.
        decay: how much of an average is kept at each update.
        only: which variables are averaged.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    >>> import numpy as np
    >>> from bindax_nnx import Module, Param
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(np.float32(2.0))
    >>> model = Scale()
    >>> ema = EMA(model, decay=0.5)
    >>> model.factor.value = np.float32(4.0)
    >>> ema.update(model)
    >>> float(ema.apply_to(model).factor)
    3.0
    """

    decay: float
    filter: Filter
    graph: bool | None

    def __init__(
        self, params: Any, decay: float, *, only: Filter = ..., graph: bool | None = None
    ) -> None:
        self.decay, self.filter, self.graph = decay, only, graph
        self.params: Any = clone(state(params, only, graph=graph))

    def update(self, updates: Any) -> None:
        """Move the averages towards the values of a model."""
        new = state(updates, self.filter, graph=self.graph).flat_state()
        for path, average in self.params.flat_state().items():
            value: Variable[Any] = new[path]
            average.value = self.decay * average.value + (1.0 - self.decay) * value.value

    def apply_to(self, model: Any) -> Any:
        """A copy of a model around the averages; later updates of these change it, too."""
        graphdef, values = split(model, graph=self.graph)
        return merge(graphdef, merge_state(values, self.params))
