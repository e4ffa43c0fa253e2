"""Composites: functions that a compiler may know by name, and replace by something faster."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import numpy as np

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    LoweringContext,
    Primitive,
    api_boundary,
    convert_constvars,
    eval_jaxpr,
    primitive,
    rules,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import flatten_function
from bindax_transforms._rule_checks import program_out_avals
from bindax_transforms.autodiff.jvp import jvp
from bindax_transforms.batching.vmap import vmap
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr
from bindax_transforms.zeros import instantiate_zeros

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*(\.[a-zA-Z0-9_$]+)+")


@dataclass(frozen=True, eq=False, repr=False)
class Attributes:
    """Attributes of a composite, of which compilers are told."""

    values: dict[str, Any]

    def __repr__(self) -> str:
        return repr(self.values)

    def __eq__(self, other: object) -> bool:
        return type(other) is Attributes and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return tuple([(name, type(x), _comparable(x)) for name, x in sorted(self.values.items())])


def _comparable(x: Any) -> Any:
    """A value of an attribute in a form that has a hash."""
    return (x.dtype, x.shape, x.tobytes()) if isinstance(x, np.ndarray) else x


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """A function that stands in compiled programs under a name, with what it is made of.

    A compiler that knows the name may put code of its own in its place, which computes the same.
    Derivatives and batches are those of the decomposition.

    Args:
        decomposition: a function of arrays and trees of arrays. Keyword arguments are attributes,
            which the compiler is told: numbers, strings, dtypes and NumPy arrays; None is left out.
        name: the name, such as ``"my.square"``.
        version: which version of the function of this name it is.

    Returns:
        The function.

    Raises:
        TypeError: when the first argument is no function, the version no integer, or, in compiled
            programs, an attribute is none of these.
        ValueError: when the name has no namespace.

    >>> from bindax_transforms import jit
    >>> square = composite(lambda x: x * x, "my.square")
    >>> float(jit(square)(3.0))
    9.0
    """
    check_function("composite", "decomposition", decomposition)
    given_name: Any = name
    if not isinstance(given_name, str) or _NAME.fullmatch(given_name) is None:
        raise ValueError(
            f"composite: name must be a namespace and a name of letters, digits and underscores, "
            f"such as 'my.square', but it is {name!r}."
        )
    if type(version) is not int:
        raise TypeError(f"composite: version must be an integer, but it is {version!r}.")

    @api_boundary
    @wraps(decomposition)
    def call(*args: Any, **attributes: Any) -> Any:
        leaves, tree = tree_flatten((args, {}))
        origin = DebugInfo("composite", decomposition)
        function, out_tree = flatten_function(partial(decomposition, **attributes), tree, origin)
        traced = trace_to_jaxpr(function, [typeof(x) for x in leaves], origin)
        jaxpr, consts = convert_constvars(traced)
        given = Attributes({key: x for key, x in attributes.items() if x is not None})
        params = {"jaxpr": jaxpr, "name": name, "attributes": given, "version": version}
        return tree_unflatten(out_tree(), composite_p.bind(*consts, *leaves, **params))

    return call


def _decomposed(*operands: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    return eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *operands)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    given = [instantiate_zeros(t) for t in tangents]
    return jvp(partial(_decomposed, **params), tuple(primals), tuple(given))


def _vmap(size: int, operands: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
    mapped = vmap(partial(_decomposed, **params), in_axes=tuple(dims), axis_size=size)
    outs = mapped(*operands)
    return outs, [0] * len(outs)


def _abstract_eval(*avals: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    return program_out_avals("composite", jaxpr, avals)


def _lowering(
    ctx: LoweringContext,
    *values: Any,
    jaxpr: ClosedJaxpr,
    name: str,
    attributes: Attributes,
    version: int,
) -> list[Any]:
    return ctx.composite(jaxpr, values, name, attributes.values, version)


composite_p: Primitive = primitive(
    "composite",
    rules.impl(_decomposed, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose.absent("its derivative is that of its decomposition, which is transposed"),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""A function with a name. Parameters: ``jaxpr``, what it is made of, without constants; ``name``;
``attributes``, of which compilers are told; ``version``."""
