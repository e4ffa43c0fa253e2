"""The graph that lowering rules add nodes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from bindax_core.extend import ClosedJaxpr, Jaxpr, Literal, lowering

to_onnx = lowering["onnx"]
"""The rule kind: ``(graph, *names, **params) -> name``, a list of names for several results."""


class Graph:
    """An ONNX graph that is being built. Values are the names that ONNX gives them.

    Attributes:
        nodes: the nodes so far.
        initializers: the constants so far.
        avals_in: the types of the operands of the primitive that is being lowered.
        avals_out: the types of its results.
    """

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.avals_in: Sequence[Any] = ()
        self.avals_out: Sequence[Any] = ()
        self._count = 0

    def new_name(self, hint: str) -> str:
        """A name that no other value has."""
        self._count += 1
        return f"{hint}_{self._count}"

    def node(self, operation: str, *operands: str, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; gives the name of its result, or a list of names for several."""
        names = [self.new_name(operation) for _ in range(outputs)]
        made = onnx.helper.make_node(operation, list(operands), names, **attributes)
        self.nodes.append(made)
        return names[0] if outputs == 1 else names

    def constant(self, value: Any, dtype: Any = None) -> str:
        """Add a constant."""
        name = self.new_name("constant")
        array = np.asarray(value, dtype)
        self.initializers.append(onnx.numpy_helper.from_array(array, name))
        return name

    def axes(self, values: Sequence[int]) -> str:
        """Add a constant of integers, as ONNX wants sizes and axes."""
        return self.constant(list(values), np.int64)

    def inline(self, closed: ClosedJaxpr, operands: Sequence[str]) -> list[str]:
        """Add the equations of a program; gives the names of its results."""
        return self.equations(
            closed.jaxpr, [self.constant(value) for value in closed.consts], operands
        )

    def equations(self, jaxpr: Jaxpr, consts: Sequence[str], operands: Sequence[str]) -> list[str]:
        """Add the equations of a program whose constants and arguments have names already.

        Raises:
            MissingRuleError: at a primitive without a rule for this target.
        """
        known: dict[Any, str] = dict(
            zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *operands), strict=True)
        )

        def name_of(atom: Any) -> str:
            if isinstance(atom, Literal):
                return self.constant(np.asarray(atom.val, atom.aval.dtype))
            return known[atom]

        for eqn in jaxpr.eqns:
            rule = to_onnx.get(eqn.primitive)
            names = [name_of(atom) for atom in eqn.invars]
            self.avals_in = [atom.aval for atom in eqn.invars]
            self.avals_out = [var.aval for var in eqn.outvars]
            known.update(zip(eqn.outvars, rule(self, *names, **eqn.params), strict=True))
        return [name_of(atom) for atom in jaxpr.outvars]
