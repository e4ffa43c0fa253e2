"""``jax.extend.core.primitives``: the primitives by JAX's names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bindax_jax_names.shims._primitive import Primitive

_ELSEWHERE = {
    "jit_p": "bindax_transforms.compilation.jit_primitive",
    "pjit_p": "bindax_transforms.compilation.jit_primitive:jit_p",
}
_UNUSED = ("call_p", "closed_call_p", "core_call_p", "core_closed_call_p", "xla_pmap_p")
"""Primitives that no program of bindax has; packages compare with them."""


def __getattr__(name: str) -> Any:
    if name in _UNUSED:
        found: Any = Primitive(name[:-2])
    elif name in _ELSEWHERE:
        module, _, word = _ELSEWHERE[name].partition(":")
        found = getattr(import_module(module), word or name)
    elif name.endswith("_p"):
        found = _among_operations(name)
    else:
        raise AttributeError(name)
    globals()[name] = found
    return found


def _among_operations(name: str) -> Any:
    for path in ("bindax.lax", "bindax.lax.linalg", "bindax_transforms"):
        found = getattr(import_module(path), name, None)
        if found is not None:
            return found
    from bindax_core import find_primitive

    try:
        return find_primitive(name[:-2])
    except Exception:  # the registry says what it lacks; here it is a name that is not there
        raise AttributeError(name) from None
