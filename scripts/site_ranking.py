"""Weights of the places that the search of the site finds: what users mean by a name is first.

The search compares words alone, so that `jit` would find `jit_partial`, and `cond` the code of
conduct, as soon as `bindax.jit` and `bindax.lax.cond`.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import reference

MODULES = {
    "bindax": 3.0,
    "bindax.lax": 2.4,
    "bindax.numpy": 2.4,
    "bindax.random": 2.4,
    "bindax.nn": 2.4,
    "bindax.tree_util": 1.8,
    "bindax.optimizers": 1.2,
    "bindax.experimental.hijax": 0.8,
    "bindax.experimental.sparse": 0.8,
    "bindax.debug": 2.0,
    "bindax.nnx": 1.8,
    "bindax.extend": 0.6,
    "bindax_transforms": 0.4,
    "bindax_lax_basic.extend": 0.4,
    "bindax_testing.extend": 0.4,
}
"""Weights of the entries of modules; those of the others have the weight 1.5."""
GUIDES = 1.2
FOLDERS = {
    "project/": 0.2,
    "decisions/": 0.3,
    "packages/": 0.5,
    "examples/": 0.5,
    "jax_packages/": 0.5,
    "lax/": 0.5,
    "reference/": 0.3,
}
TABLES = 0.2
"""The weight of tables that have every name, too."""
SAME, PRIMITIVE, LONGER = 0.7, 0.25, 0.5


@functools.cache
def names() -> frozenset[str]:
    """Return all public names without their modules."""
    return frozenset(entry.name for entry in reference.entries().values())


def weight(location: str) -> float:
    """Return the weight of a place, by its location in the index of the search.

    >>> weight("lax/control_flow/#bindax.lax.scan") > weight("lax/control_flow/#bindax.lax.scan_p")
    True
    """
    page, _, anchor = location.partition("#")
    entry = reference.entries().get(anchor)
    if entry is None:
        if page.endswith(("_names/", "_table/")):
            return TABLES
        return next((w for folder, w in FOLDERS.items() if page.startswith(folder)), GUIDES)
    found = MODULES.get(entry.module, 1.5)
    found *= SAME if entry.same is not None else 1.0
    if entry.kind == "primitive":
        return found * PRIMITIVE
    words = entry.name.split("_")
    starts = {"_".join(words[:count]) for count in range(1, len(words))}
    starts |= {entry.name.rstrip("0123456789w"), entry.name.removesuffix("shift")} - {entry.name}
    return found * (LONGER if starts & names() else 1.0)


def apply(index: Path) -> None:
    """Write the weights into the index of a built site."""
    content = json.loads(index.read_text(encoding="utf-8"))
    for document in content["docs"]:
        document["boost"] = weight(document["location"])
    index.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
