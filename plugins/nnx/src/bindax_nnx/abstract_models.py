"""Models of types alone, with the shardings that their variables will have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bindax_core import ShapeDtypeStruct
from bindax_core.extend import tree_map
from bindax_core.sharding import Mesh, set_mesh
from bindax_nnx.copies_with_changes import map
from bindax_nnx.eager_sharding import is_divided, sharding_of
from bindax_nnx.lift.remat_eval_shape import eval_shape
from bindax_nnx.partition_specs import get_named_sharding
from bindax_nnx.split_merge import GraphDef, split
from bindax_nnx.state import State
from bindax_nnx.variables import Variable

T = TypeVar("T")


def as_abstract(tree: T, graph: bool | None = None) -> T:
    """A model of types, with shardings in the types of variables that have ``out_sharding``.

    Args:
        tree: a model whose variables hold types, as ``eval_shape`` gives it.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    Returns:
        A copy. Its shardings are on the mesh in the metadata of a variable, or on that which is
        set.

    Raises:
        ValueError: a variable has ``out_sharding``, and there is no mesh.

    >>> from bindax_core.sharding import make_mesh
    >>> from bindax_nnx import Linear, Rngs
    >>> names = {"out_sharding": (None, "model")}
    >>> with set_mesh(make_mesh((1,), ("model",))):
    ...     model = eval_shape(lambda: Linear(4, 8, kernel_metadata=names, rngs=Rngs(0)))
    ...     model = as_abstract(model)
    >>> model.kernel.sharding.spec
    P(None, 'model')
    """
    copy: T = map(_with_sharding, tree, graph=graph)
    return copy


def _with_sharding(path: Any, x: Any) -> Any:
    if not isinstance(x, Variable) or not x.get_metadata("out_sharding", None):
        return x
    sharding = sharding_of(x.get_metadata())
    if sharding is None:
        where = ".".join([str(key) for key in path]) or "the variable"
        raise ValueError(
            f"as_abstract: {where} has out_sharding="
            f"{x.get_metadata('out_sharding')!r}, but no mesh is set, nor has it one in its "
            f"metadata. Call as_abstract in `with set_mesh(mesh):`."
        )

    def placed(leaf: Any) -> Any:
        if not isinstance(leaf, ShapeDtypeStruct) or is_divided(leaf):
            return leaf
        return ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)

    return x.replace(tree_map(placed, x.raw_value))


def get_abstract_model(
    init_fn: Callable[[], Any], mesh: Mesh, *, graph: bool | None = None
) -> tuple[GraphDef, State]:
    """The structure of a model that a function makes, and the types of its variables.

    Args:
        init_fn: a function without arguments that returns a model; it is not computed.
        mesh: the devices that the model will be divided over.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    Returns:
        ``(graphdef, state)``; the types in the state have shardings.

    >>> from bindax_core.sharding import make_mesh
    >>> from bindax_nnx import Linear, Rngs
    >>> mesh = make_mesh((1,), ("model",))
    >>> graphdef, state = get_abstract_model(lambda: Linear(4, 8, rngs=Rngs(0)), mesh)
    >>> state["kernel"].value.sharding.spec
    P()
    """
    with set_mesh(mesh):
        graphdef, state = split(eval_shape(init_fn, graph=graph), graph=graph)
        shardings = get_named_sharding(state, mesh)
    return graphdef, tree_map(
        lambda x, sharding: ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), state, shardings
    )
