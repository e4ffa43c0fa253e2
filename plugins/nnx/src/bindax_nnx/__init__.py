"""Modules with reference semantics."""

from bindax_nnx.display import display as display
from bindax_nnx.foreign import register_graph_node as register_graph_node
from bindax_nnx.functional import *  # noqa
from bindax_nnx.graph import iter_graph as iter_graph
from bindax_nnx.lift.axes import Carry as Carry
from bindax_nnx.lift.axes import StateAxes as StateAxes
from bindax_nnx.lift.jit import jit as jit
from bindax_nnx.lift.vmap import vmap as vmap
from bindax_nnx.module import Module as Module
from bindax_nnx.object import *  # noqa
from bindax_nnx.state import State as State
from bindax_nnx.variables import *  # noqa
