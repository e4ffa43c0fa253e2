"""Optimizers as objects: the state of an optimizer of pure functions in variables."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import tree_flatten, tree_leaves, tree_map, tree_structure, typeof
from bindax_nnx.filters import Filter
from bindax_nnx.graph_state import GraphState
from bindax_nnx.object import Object
from bindax_nnx.split_merge import state, update
from bindax_nnx.state import State
from bindax_nnx.variables import Param, Variable


class OptState(Variable[Any]):
    """State of an optimizer."""

    __slots__ = ()


class OptArray(OptState):
    """An array of the state of an optimizer that belongs to no parameter."""

    __slots__ = ()


class OptVariable(OptState):
    """An array of the state of an optimizer that belongs to a parameter, with its metadata."""

    __slots__ = ()


def _is_variable(x: Any) -> bool:
    return isinstance(x, Variable)


def _wrapped(x: Any) -> Any:
    """Variables for the arrays of a state; what stands for no array stays as it is."""
    if not isinstance(x, Variable):
        return OptArray(jnp.asarray(x))
    metadata = {k: v for k, v in x._metadata.items() if k not in ("hijax", "ref")}
    if "optimizer_sharding" in metadata:
        metadata["out_sharding"] = metadata.pop("optimizer_sharding")
    return tree_map(lambda leaf: OptVariable(leaf, **metadata), x.raw_value)


def _raw(tree: Any) -> Any:
    """A tree with the values of its variables in their place."""
    return tree_map(lambda x: x.raw_value if _is_variable(x) else x, tree, is_leaf=_is_variable)


def _without_reference(x: Any) -> Any:
    """A parameter whose value is in no mutable array."""
    return x.copy(ref=False) if _is_variable(x) and x.ref else x


def _require_transformation(tx: Any) -> None:
    if not hasattr(tx, "init") or not hasattr(tx, "update"):
        raise TypeError(
            f"Optimizer needs something with init and update as tx, but got a {type(tx).__name__}."
        )
    package = getattr(tx.init, "__module__", None) or ""
    if package.startswith("optax.") and type(sys.modules.get("jax")) is ModuleType:
        raise TypeError(
            "Optimizer got a tx of optax that runs on JAX, whose functions take no states of "
            "bindax. Use bindax.optimizers, which has the same names; or import optax on bindax, "
            'by bindax.jax_names.import_package("optax") or by running the program with '
            "python -m bindax.jax."
        )


class Optimizer(Object):
    """An optimizer, with its state, of the parameters of a model.

    Args:
        model: the model.
        tx: anything with ``init(params)`` and ``update(gradients, state, params)``, such as what
            ``bindax.optimizers`` makes, and optax imported on bindax.
        wrt: which variables of the model are its parameters. Their metadata are those of the
            arrays of the state that belong to them, ``optimizer_sharding`` as ``out_sharding``.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    >>> import numpy as np
    >>> from bindax_nnx import Module, grad
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(np.float32(2.0))
    >>> class Descent:
    ...     def init(self, params):
    ...         return ()
    ...     def update(self, gradients, state, params):
    ...         return tree_map(lambda g: -0.5 * g, gradients), state
    >>> model = Scale()
    >>> optimizer = Optimizer(model, Descent())
    >>> _ = optimizer.update(model, grad(lambda model: model.factor * 2.0)(model))
    >>> float(model.factor), int(optimizer.step)
    (1.0, 1)
    """

    tx: Any
    wrt: Filter
    graph: bool | None

    def __init__(
        self, model: Any, tx: Any, *, wrt: Filter = Param, graph: bool | None = None
    ) -> None:
        _require_transformation(tx)
        self.step: OptState = OptState(jnp.zeros((), np.uint32))
        self.tx, self.wrt, self.graph = tx, wrt, graph
        params = state(model, wrt, graph=graph)
        params = tree_map(_without_reference, params, is_leaf=_is_variable)
        self.opt_state: Any = tree_map(_wrapped, tx.init(params), is_leaf=_is_variable)

    def update(self, model: Any, grads: Any, **extra: Any) -> Any:
        """Make a step: change the parameters of the model and the state in place.

        Args:
            model: the model.
            grads: the gradients of its parameters, as ``grad`` gives them.
            extra: more keyword arguments of the update.

        Returns:
            What was added to the parameters, as nested dictionaries.

        Raises:
            ValueError: the gradients are not those of the parameters.
        """
        params, grads = state(model, self.wrt, graph=self.graph), self._as_state(grads)
        values, slopes = _raw(params), _raw(grads)
        if tree_structure(slopes) != tree_structure(values):
            ours, theirs = set(params.flat_state()), set(getattr(grads, "flat_state", dict)())
            raise ValueError(
                f"Optimizer.update got gradients of another structure than the parameters: without "
                f"{sorted(ours - theirs, key=str)}, and with {sorted(theirs - ours, key=str)} too "
                f"many. Pass what grad returns for the same model and the same filter."
            )
        updates, new = self.tx.update(slopes, _raw(self.opt_state), values, **_raw(extra))
        changed = tree_map(lambda p, u: jnp.asarray(p + u).astype(typeof(p).dtype), values, updates)
        update(model, changed)
        variables = tree_flatten(self.opt_state, is_leaf=_is_variable)[0]
        for variable, value in zip(variables, tree_leaves(new), strict=True):
            variable.value = value
        self.step.value += jnp.ones((), np.uint32)
        return updates.to_pure_dict() if isinstance(updates, State) else updates

    def _as_state(self, grads: Any) -> Any:
        """Gradients as a state; those of a function of trees are of the class of the model."""
        if isinstance(grads, GraphState):
            return grads.state
        if isinstance(grads, Object):
            return state(grads, self.wrt, graph=self.graph)
        return grads


class ModelAndOptimizer(Optimizer):
    """An optimizer that keeps its model.

    Args:
        model: the model.
        tx: as for ``Optimizer``.
        wrt: as for ``Optimizer``.
    """

    def __init__(self, model: Any, tx: Any, *, wrt: Filter = Param) -> None:
        super().__init__(model, tx, wrt=wrt)
        self.model = model

    def update(self, grads: Any, /, **extra: Any) -> Any:  # type: ignore[override]
        """Make a step with the gradients of the parameters of the model."""
        return super().update(self.model, grads, **extra)
