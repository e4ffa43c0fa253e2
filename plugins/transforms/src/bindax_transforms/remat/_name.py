"""Names for intermediate values, by which policies of ``checkpoint`` choose what is saved."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import (
    Primitive,
    abstract_eval,
    api_boundary,
    as_array,
    impl,
    is_value,
    keystr,
    lowering,
    primitive,
    rules,
    tree_flatten_with_path,
    tree_unflatten,
    unknown_type_error,
)
from bindax_transforms.rules import jvp, transpose, vmap

name_p: Primitive = primitive(
    "name",
    impl(lambda x, *, name: [as_array(x)], on_values=True),
    abstract_eval(lambda aval, *, name: aval),
    # A policy saves values, not their tangents: those have no name.
    jvp(lambda primals, tangents, *, name: (name_p.bind(*primals, name=name), tangents[0])),
    vmap(lambda size, operands, dims, *, name: (name_p.bind(*operands, name=name), dims[0])),
    transpose(lambda ct, x, *, name: [ct]),
    lowering["stablehlo"](lambda ctx, x, *, name: x),
    rules.sharding("elementwise", linear=True),
)
"""Its operand, under a name that policies see. Parameter ``name``: a string."""


@api_boundary
def checkpoint_name(x: Any, name: str) -> Any:
    """The values themselves, under a name by which policies of ``checkpoint`` know them.

    Args:
        x: an array or a tree of arrays.
        name: the name; it need not be unique.

    Returns:
        What ``x`` is. Without a ``checkpoint`` whose policy asks for names it changes nothing.

    Raises:
        TypeError: when ``name`` is no string, or a leaf of ``x`` no array.

    >>> from bindax_transforms import checkpoint_name
    >>> float(checkpoint_name(2.0, "scale"))
    2.0
    """
    if not isinstance(name, str):
        raise TypeError(
            f"the name given to checkpoint_name must be a string, but it is {name!r:.80} of type "
            f"{type(name).__name__}. The values come first: checkpoint_name(x, 'name')."
        )
    leaves, tree = tree_flatten_with_path(x)
    for path, leaf in leaves:
        if not is_value(leaf):
            raise unknown_type_error(leaf, f"checkpoint_name of x{keystr(path)}: ")
    return tree_unflatten(tree, [name_p.bind(leaf, name=name) for _, leaf in leaves])
