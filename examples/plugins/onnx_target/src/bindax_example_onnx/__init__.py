"""Functions of bindax as ONNX models: a lowering target, brought from outside."""

from bindax_example_onnx.exporter import export as export
from bindax_example_onnx.graph import Graph as Graph
from bindax_example_onnx.graph import to_onnx as to_onnx
