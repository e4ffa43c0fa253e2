"""The pages that compare optimizers with optax and layers with Flax, by computing with both.

The cases are those of the tests. They are computed when the site is built, which takes a minute.

    uv run python scripts/comparison_pages.py optimizers_table.md   # print one page
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import reference_pages

ROOT = Path(__file__).resolve().parent.parent
BOUNDS = (1e-6, 1e-5, 1e-4, 1e-3)
OPTIONS = re.compile(r"\n *options: (.*?)\n\s*(?:\n|\w+: )", re.DOTALL)
"""The entry of a docstring for arguments that are given by name."""


def bound(difference: float) -> str:
    """Return the power of ten below which a difference is.

    >>> bound(3e-7), bound(0.0), bound(0.5)
    ('< 1e-6', '0', '≥ 1e-3')
    """
    if difference == 0:
        return "0"
    return next((f"< 1e{round(np.log10(b))}" for b in BOUNDS if difference < b), "≥ 1e-3")


def difference(ours: Iterable[Any], theirs: Iterable[Any]) -> float:
    """Return the greatest difference of arrays, relative where numbers are above 1."""
    pairs = [(np.asarray(x, "f8"), np.asarray(y, "f8")) for x, y in zip(ours, theirs, strict=True)]
    gaps = [np.abs(x - y) / np.maximum(1, np.abs(y)) for x, y in pairs if x.size]
    return float(max((gap.max() for gap in gaps), default=0.0))


def parameters(ours: set[str], theirs: set[str]) -> str:
    """Return how many parameters both functions have, and which are in theirs only.

    >>> parameters({"a", "b"}, {"a", "c"})
    '1; without `c`'
    """
    missing = "".join(f"; without `{name}`" for name in sorted(theirs - ours))
    return f"{len(theirs & ours)}{missing}"


def _of_function(function: Any) -> set[str]:
    return {*inspect.signature(function).parameters}


def _of_method(kind: type, method: str) -> set[str]:
    """The parameters of a method, and those that the docstring lists as its ``options``.

    The first argument of a call, which wrappers name otherwise, is left out as ``self`` is.
    """
    found: set[str] = set()
    for one in kind.__mro__:
        if method not in vars(one):
            continue
        parameters = [*inspect.signature(vars(one)[method]).parameters.values()]
        named = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
        found.update(named[1 + (method == "__call__") :])
        if all(p.kind is not p.VAR_KEYWORD for p in parameters):
            break
        listed = OPTIONS.search(one.__doc__ or "")
        for word in re.findall(r"``(\w+)``", listed[1] if listed else ""):
            other = getattr(sys.modules[one.__module__], word, None)  # "as for another layer"
            found |= _of_method(other, method) if inspect.isclass(other) else {word}
    return found


def _link(path: str) -> str:
    """A link from a page of the documentation to the entry of a name."""
    return f"[`{path.rpartition('.')[2]}`]({reference_pages.file_of(path)}#{path})"


def _cases(folder: str, module: str) -> Any:
    """Import the module of cases of a package's tests."""
    path = str(ROOT / folder / "tests")
    sys.path.insert(0, path)
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(path)


def _table(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def optimizers() -> str:
    """Return the page of optimizers beside optax."""
    jax, optax = importlib.import_module("jax"), importlib.import_module("optax")
    import bindax
    from bindax import optimizers as own

    cases = _cases("plugins/optimizers", "_optax_cases")
    rows: dict[str, list[float]] = {}
    for name in cases.OPTIMIZERS:
        ours = cases.steps(own, bindax.jit, name)[0]
        theirs = cases.steps(optax, jax.jit, name)[0]
        leaves = bindax.tree.leaves(ours), jax.tree.leaves(theirs)
        rows.setdefault(name.partition(",")[0], []).append(difference(*leaves))

    def row(name: str) -> tuple[Any, ...]:
        other = getattr(optax, name, None) or getattr(optax.contrib, name)
        counted = parameters(_of_function(getattr(own, name)), _of_function(other))
        link = _link(f"bindax.optimizers.{name}")
        return link, counted, len(rows[name]), bound(max(rows[name]))

    known = [name for name in sorted(rows) if hasattr(own, name)]
    table = _table(("optimizer", "parameters", "cases", "difference"), map(row, known))
    return f"""# Optimizers beside optax

For each optimizer and part: the number of parameters that it has in common with that of optax
{optax.__version__}, and those that it lacks; and the greatest difference of what is trained after
thirty steps with drawn gradients, in 32 bits, relative where numbers are above 1. The fields of
states are compared by a test. [Optimizers](optimizers.md) shows how they are used.

{table}
"""


def _numbers(nnx: Any, state: Any) -> dict[str, Any]:
    """The arrays of a state by path; those that Flax replaces are left out."""
    pairs = nnx.to_flat_state(state)
    found = {"/".join(map(str, path)): leaf for path, leaf in pairs}
    return {
        key: np.asarray(leaf[...] if isinstance(leaf, nnx.Variable) else leaf)
        for key, leaf in sorted(found.items())
        if not key.startswith("layer_instance")
    }


def _layer(nnx: Any, cases: Any, name: str) -> tuple[str, list[dict[str, Any]]]:
    """The class of a layer; its first numbers, results, and gradients of their squares."""
    inputs, make = cases.CASES[name]
    layer = make(nnx, nnx.Rngs(0))
    first = _numbers(nnx, nnx.state(layer, nnx.Param))

    def result(layer: Any) -> Any:
        return cases.call(nnx, name, layer, cases.X[inputs])

    out = result(make(nnx, nnx.Rngs(0)))
    gradients = _numbers(nnx, nnx.grad(lambda layer: (result(layer) ** 2).mean())(layer))
    kind = type(getattr(layer, "cell", layer)).__name__
    return kind, [first, {"": out}, gradients]


def _of_common(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """The difference of what both have; wrappers of Flax replace the arrays inside."""
    common = sorted(ours.keys() & theirs.keys())
    return difference([ours[key] for key in common], [theirs[key] for key in common])


def layers() -> str:
    """Return the page of layers beside Flax."""
    flax = importlib.import_module("flax.nnx")
    version = importlib.import_module("flax").__version__
    from bindax import nnx

    cases = _cases("plugins/nnx", "_layer_cases")
    found: dict[str, list[list[float]]] = {}
    for name in cases.CASES:
        kind, ours = _layer(nnx, cases, name)
        _, theirs = _layer(flax, cases, name)
        found.setdefault(kind, []).append(
            [_of_common(*pair) for pair in zip(ours, theirs, strict=True)]
        )

    def signatures(kind: str, method: str) -> str:
        return parameters(*(_of_method(getattr(package, kind), method) for package in (nnx, flax)))

    def row(kind: str) -> tuple[Any, ...]:
        worst = [bound(max(column)) for column in zip(*found[kind], strict=True)]
        both = (signatures(kind, "__init__"), signatures(kind, "__call__"))
        return _link(f"bindax.nnx.{kind}"), *both, len(found[kind]), *worst

    heads = ("layer", "constructor", "call", "cases", "first values", "results", "gradients")
    table = _table(heads, map(row, sorted(found)))
    return f"""# Layers beside Flax

For each layer: the number of parameters of its constructor and of its call that it has in common
with that of Flax {version}, and those that it lacks; and the greatest differences, in 32 bits,
relative where numbers are above 1: of the values that equal keys give, of results, and of the
gradients of the mean of their squares. [Modules](nnx.md) shows how layers are used.

{table}
"""


PAGES: dict[str, Callable[[], str]] = {
    "optimizers_table.md": optimizers,
    "layers_table.md": layers,
}
"""The function that writes each page, by the name of its file in the documentation."""


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file in the documentation."""
    return {name: write() for name, write in PAGES.items()}


if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        print(PAGES[name]())
