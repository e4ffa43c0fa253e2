"""From a function to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx

from bindax_core import tree_util
from bindax_core.extend import api_boundary
from bindax_example_onnx.graph import Graph
from bindax_transforms import make_jaxpr

OPSET = 18


@api_boundary
def export(fun: Callable[..., Any], *args: Any, name: str = "bindax") -> onnx.ModelProto:
    """The ONNX model of a function.

    Constants that the function closes over, such as trained weights, become initializers.

    Args:
        fun: a function of arrays and trees of arrays.
        args: example arguments, for their structure, shapes and dtypes; ``ShapeDtypeStruct`` will
            do. Inputs of the model are named after them: ``arg0``, ``arg1['weight']``.
        name: the name of the graph.

    Returns:
        A checked model (opset 18), whose inputs are the leaves of the arguments and whose outputs,
        ``out0``, ``out1``, …, are the leaves of the results.

    Raises:
        MissingRuleError: when a primitive has no rule ``lowering["onnx"]``.

    >>> model = export(lambda x: x * 2.0, np.zeros((2, 3), np.float32))
    >>> [node.op_type for node in model.graph.node]
    ['Mul', 'Identity']
    """
    closed = make_jaxpr(fun)(*args)
    graph = Graph()
    leaves, _ = tree_util.tree_flatten_with_path(args)
    inputs = [f"arg{path[0].idx}{tree_util.keystr(path[1:])}" for path, _ in leaves]
    consts = [graph.constant(np.asarray(value)) for value in closed.consts]
    results = graph.equations(closed.jaxpr, consts, inputs)
    outputs = [f"out{i}" for i in range(len(results))]
    for result, output in zip(results, outputs, strict=True):
        # A result may be an argument, or one value twice; ONNX wants a node behind each output.
        graph.nodes.append(onnx.helper.make_node("Identity", [result], [output]))
    made = onnx.helper.make_graph(
        graph.nodes,
        name,
        _described(inputs, closed.in_avals),
        _described(outputs, closed.out_avals),
        graph.initializers,
    )
    imports = [onnx.helper.make_opsetid("", OPSET)]
    model = onnx.helper.make_model(made, opset_imports=imports, producer_name="bindax")
    model.ir_version = 10  # what runtimes of the last years read
    onnx.checker.check_model(model, full_check=True)
    return model


def _described(names: Sequence[str], avals: Sequence[Any]) -> list[onnx.ValueInfoProto]:
    return [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(aval.dtype)), aval.shape
        )
        for name, aval in zip(names, avals, strict=True)
    ]
