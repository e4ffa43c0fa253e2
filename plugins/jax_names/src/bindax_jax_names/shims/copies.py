"""Copies of primitives, which packages make to rename them."""

from __future__ import annotations

from itertools import count
from typing import Any

from bindax_core.extend import Primitive, Site, rule_kinds
from bindax_jax_names.shims._primitive import Primitive as PrimitiveOfPackage
from bindax_jax_names.shims._sites import package_frame

_numbers = count(1)


def deep_copy(primitive: Primitive, memo: dict[int, Any]) -> Primitive:
    """A primitive of its own that has the rules of another, which a package may rename.

    A copy of something that contains the primitive, as a jaxpr does, contains the primitive.
    """
    if memo or isinstance(primitive, PrimitiveOfPackage):
        return primitive
    copied = type(primitive)(
        f"{primitive.name}_copy{next(_numbers)}",
        multiple_results=primitive.multiple_results,
        site=Site(*package_frame()),
    )
    copied.takes_values = primitive.takes_values
    copied.prefers_compiler = primitive.prefers_compiler
    for kind in list(rule_kinds.values()):
        kind.find(primitive)  # which loads it, if a package has it
        for rule in kind.rules_of(primitive):
            kind.install(copied, rule)
    return copied
