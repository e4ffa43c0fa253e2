"""The state of training as a pytree: parameters, optimizer and number of steps."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import tree_map, typeof
from bindax_core.tree_util import register_dataclass
from bindax_nnx.split_merge import GraphDef
from bindax_nnx.state import State


@dataclasses.dataclass(frozen=True)
class TrainState:
    """The state of training; a pytree. Subclasses may add fields, as dataclasses.

    Attributes:
        graphdef: the structure of the model.
        params: its parameters.
        opt_state: the state of the optimizer.
        step: the number of steps.
        tx: the optimizer, anything with ``init`` and ``update``.

    >>> from bindax_optimizers import sgd
    >>> from bindax_nnx import Linear, Rngs, split
    >>> graphdef, params = split(Linear(2, 2, rngs=Rngs(0)))
    >>> state = TrainState.create(graphdef, params=params, tx=sgd(0.1))
    >>> int(state.apply_gradients(params).step)
    1
    """

    graphdef: GraphDef
    params: State
    opt_state: Any
    step: Any
    tx: Any = dataclasses.field(metadata={"pytree_node": False})

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclasses.dataclass(frozen=True)(cls)
        _register(cls)

    @classmethod
    def create(
        cls, graphdef: GraphDef, *, params: State, tx: Any, step: int = 0, **kwargs: Any
    ) -> Any:
        """The state before the first step; ``kwargs`` are the fields of subclasses."""
        opt_state = tx.init(params)
        steps = jnp.asarray(step, dtype=np.int32)
        return cls(graphdef, params, opt_state=opt_state, step=steps, tx=tx, **kwargs)

    def replace(self, **changes: Any) -> Any:
        """The state with other values of fields."""
        return dataclasses.replace(self, **changes)

    def apply(self, state: State | str, *states: State | str) -> Any:
        """A function that calls the model, or a method of it; see ``GraphDef.apply``.

        Args:
            state: a state of the model, or the name of a field that is one.
            states: more of them.

        Raises:
            TypeError: a field is no state.
        """
        found = []
        for one in (state, *states):
            value = getattr(self, one) if isinstance(one, str) else one
            if not isinstance(value, State):
                raise TypeError(f"TrainState.apply: {one!r:.60} is no state, but {value!r:.60}.")
            found.append(value)
        return self.graphdef.apply(*found)

    def apply_gradients(self, grads: State, **changes: Any) -> Any:
        """The state after a step with the gradients of the parameters."""
        updates, opt_state = self.tx.update(grads, self.opt_state, self.params)
        params = tree_map(
            lambda p, u: jnp.asarray(p + u).astype(typeof(p).dtype), self.params, updates
        )
        return self.replace(params=params, opt_state=opt_state, step=self.step + 1, **changes)


def _register(cls: type[Any]) -> None:
    names = {f.name: f.metadata.get("pytree_node", True) for f in dataclasses.fields(cls)}
    data = [name for name, is_data in names.items() if is_data and name != "graphdef"]
    static = [name for name, is_data in names.items() if not is_data or name == "graphdef"]
    register_dataclass(cls, data, static)


_register(TrainState)
