"""The pages of names: every public name of a module of JAX, and what bindax has for it.

A name is the same where a call for one is a call for the other: each parameter is there, with the
same default, given in the same ways. What differs or is absent needs a reason, here. Each release
of ``REFERENCES`` has a stored table of its own, from which the pages are written without it.

    uv run python scripts/name_tables.py          # store tables of what is installed
    uv run python scripts/name_tables.py --check  # compare only
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_origin

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "scripts/names"
REFERENCES = {"jax": ("0.10.2", "0.12.0.1"), "flax": ("0.12.8", "0.12.12")}
"""The release whose names bindax has, and one with names that are recorded and not here yet."""
OF_OTHERS = ("numpy.int1", "numpy.save", "numpy.uint1")
"""Names that JAX takes from NumPy and ml_dtypes, whose releases decide: they are not compared."""


class Page(NamedTuple):
    """One page: its file, and the modules whose names are on it, or a pattern of theirs."""

    file: str
    title: str
    modules: Sequence[str]
    arrays: bool = False
    package: str = "jax"


SHARDING = "no `out_sharding`: the type of an array says nothing of its sharding"
CHANGED_COPY = "returns a changed copy at once, where JAX asks for `inplace=False`"
CASTS = "no dtype of this width: NumPy has no arithmetic of it to evaluate with"
OTHER_FORMATS = (
    "matrices by rows are `BCSR`, all others `BCOO`; `from_scipy_sparse` takes all of SciPy's"
)
PRIVATE = "no part of the interface: a module, a helper or an import of JAX's own"
LINEN = "a bridge to the older modules of Flax, which are not here"
MODES = "a setting of Flax for modules without references; here there is one mode"
INSIDE = "a piece of Flax's own machinery; `nnx.lift` and `nnx.split` do its work"
NO_PRIMITIVE = "no primitive: the operation is made of gathers, scatters and sums"

OF_MODES = ("graph", "graph_updates")
"""Parameters of functions of Flax for its modes, of which there is one here."""
FLAX_MODULES = ("nnx", "core.meta", "linen.partitioning")

ABSENT = {
    "numpy.float6_e2m3fn": CASTS,
    "numpy.float6_e3m2fn": CASTS,
    "numpy.int1": CASTS,
    "numpy.uint1": CASTS,
    "experimental.jet.*": PRIVATE,
    "experimental.ode.*": PRIVATE,
    "experimental.sparse.*_p": NO_PRIMITIVE,
    "experimental.sparse.bcoo_gather": "`bcoo_dynamic_slice` and slices take parts",
    "experimental.sparse.bcoo_conv_general_dilated": "convolve the dense array",
    "experimental.sparse.[bc]*": OTHER_FORMATS,
    "experimental.sparse.[BC]*": OTHER_FORMATS,
    "experimental.sparse.SparseEfficiencyWarning": "layouts that store zeros are an error",
    "experimental.sparse.*": PRIVATE,
    "nnx.TrainState": LINEN,
    "nnx.*variable_name*": LINEN,
    "nnx.variable_type_from_name": LINEN,
    "nnx.set_graph_*": MODES,
    "nnx.with_rngs": MODES + "; see `split_rngs` and `fork_rngs`",
    "nnx.prefix": MODES,
    "nnx.UpdateContext": INSIDE,
    "nnx.current_update_context": "`split_context` and `merge_context` find it by its tag",
    "nnx.GraphState": INSIDE,
    "nnx.FlatState": "`to_flat_state` returns pairs of paths and variables",
    "nnx.PureState": "a nested dictionary",
    "nnx.flatten": INSIDE,
    "nnx.unflatten": INSIDE,
    "nnx.unpack": INSIDE,
    "nnx.call": "`GraphDef.apply` calls methods of a graph of structure and state",
    "nnx.capture": "`sow`, `perturb` and `pop` record and take out",
    "nnx.check_pytree": "each call checks what it is given",
    "nnx.has_data": "see `is_data`",
    "nnx.register_data_type": "types are registered as pytree or graph nodes",
    "nnx.checkify": "`checkify` a function of the states of `split`",
    "nnx.abstract_with_sharding": "`eval_shape` and `get_named_sharding`",
    "nnx.transform_metadata": "the argument of this name of `vmap` and `scan`",
    "nnx.view_info": "see `help` of the module",
    "nnx.pool": "see `avg_pool`, `max_pool` and `min_pool`",
    "nnx.restore_int_paths": "`load` keeps integers in paths",
    "nnx.Initializer": "a type for annotations",
    "core.meta.LogicalNames": "a type for annotations",
    "core.meta.*global_mesh*": "see `bindax.sharding.get_mesh`",
    "linen.*": LINEN,
}
"""Reasons by name or pattern; the first that fits."""

DIFFERENT = {
    "numpy.array": "`copy` may be given by position, as in NumPy",
    "numpy.fill_diagonal": CHANGED_COPY,
    "numpy.place": CHANGED_COPY,
    "numpy.put": CHANGED_COPY,
    "numpy.put_along_axis": CHANGED_COPY,
    "numpy.ufunc": "made by `frompyfunc`; `at` returns a changed copy at once",
    "experimental.checkify.Error": "it is made by `checkify`; its constructor has other parameters",
}
# Attributes of JAX's arrays that belong to other parts of bindax, or to none.
ARRAY_ABSENT = {
    "addressable_data": "shards are a matter of the backend",
    "addressable_shards": "shards are a matter of the backend",
    "global_shards": "shards are a matter of the backend",
    "sharding": "shards are a matter of the backend",
    "committed": "an array is where it was put; there is no other kind",
    "is_fully_addressable": "shards are a matter of the backend",
    "is_fully_replicated": "shards are a matter of the backend",
    "copy_to_host_async": "bytes come to the host when they are looked at",
    "on_device_size_in_bytes": "see `nbytes`",
    "unsafe_buffer_pointer": "see `__dlpack__`",
    "unsafe_raw_buffer": "see `__dlpack__`",
    "device_buffer": "not in JAX any more but as an error",
    "device_buffers": "not in JAX any more but as an error",
    "flat": "raises in JAX; see `ravel`",
    "clone": "see `copy`",
    "is_ready": "see `block_until_ready`",
    "platform": "see `device`",
    "traceback": "arrays do not remember where they were made",
}


MINE = {"core.meta": "meta", "linen.partitioning": "meta"}
"""Modules of bindax that are called otherwise."""


class Row(NamedTuple):
    """One name: how it compares, and why it differs or is absent."""

    name: str
    state: str
    reason: str


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter] | None:
    """Return the parameters of a function, or None where they are not known."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None


def shown(value: Any) -> str:
    """Return a default as it is compared: dtypes and classes by name, functions not at all."""
    if isinstance(value, frozenset):
        return " or ".join(sorted(map(shown, value)))
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, type):
        return value.__name__
    return "function" if callable(value) else repr(value).strip("'")


def is_left_out(theirs: inspect.Parameter, mine: inspect.Parameter) -> bool:
    """Tell whether both mean that nothing was given, as for decorators and sets of options."""
    nothing = (None, inspect.Parameter.empty, dataclasses.MISSING)
    given = shown(theirs.default).lower()
    return any(mine.default is x for x in nothing) and (
        "missing" in given or given == "frozendict({})"
    )


def mismatches(theirs: Callable[..., Any], mine: Callable[..., Any]) -> Iterator[str]:
    """Yield what a call of the one has that a call of the other has not."""
    wanted, there = parameters(theirs), parameters(mine)
    if wanted is None or there is None:
        return
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    various = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    mine_by_position = [p for p in there.values() if p.kind in positional]
    place = 0
    for name, parameter in wanted.items():
        by_position = parameter.kind in positional
        if parameter.kind in various or name.startswith("_") or name in OF_MODES:
            continue
        own = there.get(name)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            own = mine_by_position[place] if place < len(mine_by_position) else None
        place += by_position
        if own is None:
            if not any(p.kind is p.VAR_KEYWORD for p in there.values()):
                yield SHARDING if name == "out_sharding" else f"no `{name}`"
        elif by_position and own.kind is own.KEYWORD_ONLY:
            yield f"`{name}` by name only"
        elif parameter.kind is not parameter.POSITIONAL_ONLY and own.kind is own.POSITIONAL_ONLY:
            yield f"`{name}` by position only"
        elif shown(own.default) != shown(parameter.default) and not is_left_out(parameter, own):
            yield f"`{name}` is {shown(own.default)} by default"


def compared(module: str, name: str, theirs: Any, mine: ModuleType) -> Row:
    """Compare one name of a module."""
    full = f"{module}.{name}"
    if not hasattr(mine, name):
        reasons = (reason for pattern, reason in ABSENT.items() if fnmatch(full, pattern))
        return Row(full, "absent", next(reasons, ""))
    if full in DIFFERENT:
        return Row(full, "differs", DIFFERENT[full])
    own = getattr(mine, name)
    if not callable(theirs) or isinstance(theirs, type) or isinstance(own, type):
        return Row(full, "same", "")
    found = list(dict.fromkeys(mismatches(theirs, own)))
    return Row(full, "differs" if found else "same", ", ".join(found))


PAGES = [
    Page("numpy_names.md", "`jax.numpy`", ("numpy", "numpy.linalg", "numpy.fft"), True),
    Page("random_names.md", "`jax.random`", ("random",)),
    Page("nn_names.md", "`jax.nn`", ("nn", "nn.initializers")),
    Page("scipy_names.md", "`jax.scipy`", ("scipy.*",)),
    Page(
        "other_names.md",
        "other modules of JAX",
        (
            *("image", "ops", "flatten_util", "dlpack", "dtypes", "tree"),
            *[f"experimental.{name}" for name in ("checkify", "jet", "layout", "ode", "sparse")],
        ),
    ),
    Page("nnx_names.md", "`flax.nnx`", FLAX_MODULES, package="flax"),
]


def modules(page: Page) -> Iterator[str]:
    """Yield the modules of a page that are installed."""
    for pattern in page.modules:
        package, star, _ = pattern.partition(".*")
        if not star:
            yield pattern
            continue
        path = importlib.import_module(f"{page.package}.{package}").__path__
        for module in pkgutil.walk_packages(path, f"{page.package}.{package}."):
            yield module.name.removeprefix(f"{page.package}.")


def is_of_flax(value: Any) -> bool:
    """Tell whether a value is no module, union of types or function of another package."""
    if isinstance(value, (ModuleType, TypeVar)) or get_origin(value) in (Union, UnionType):
        return False
    return not callable(value) or getattr(value, "__module__", "").startswith("flax")


def rows(page: Page) -> Iterator[Row]:
    """Yield all names of the modules of a page, and of arrays, in order."""
    for module in modules(page):
        theirs = importlib.import_module(f"{page.package}.{module}")
        mine = importlib.import_module(f"bindax.{MINE.get(module, module)}")
        for name in sorted(n for n in dir(theirs) if not n.startswith("_")):
            if page.package == "jax" or is_of_flax(getattr(theirs, name)):
                yield compared(module, name, getattr(theirs, name), mine)
    if not page.arrays:
        return
    space = importlib.import_module("bindax.numpy")
    array = importlib.import_module("jax.numpy").zeros((2, 2))
    for name in sorted(n for n in dir(type(array)) if not n.startswith("_")):
        there = name in dir(space.zeros((2, 2))) or hasattr(space.zeros((2, 2)), name)
        full = f"Array.{name}"
        yield Row(full, "same", "") if there else Row(full, "absent", ARRAY_ABSENT.get(name, ""))


def place(row: Row) -> str:
    """Return the module of a name, or ``Array``."""
    return row.name.rpartition(".")[0]


def table(package: str, release: str) -> list[Row]:
    """Return all rows of the table of a release; none if there is no table yet."""
    path = TABLES / f"{package}-{release}.tsv"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Row(*line.split("\t")) for line in lines]


def stored(page: Page, release: str) -> list[Row]:
    """Return the rows of a page in the table of a release."""
    found = table(page.package, release)
    patterns = (*page.modules, *(("Array",) if page.arrays else ()))
    return [row for row in found if any(fnmatch(place(row), pattern) for pattern in patterns)]


def absent(module: str) -> set[str]:
    """Return the names of a module that a release of the references has and bindax has not."""
    return {
        row.name.rpartition(".")[2]
        for page in PAGES
        for release in REFERENCES[page.package]
        for row in stored(page, release)
        if row.state == "absent" and place(row) == module
    }


def text(page: Page) -> str:
    """Return the text of a page."""
    first, later = REFERENCES[page.package]
    found = stored(page, first)
    unexplained = [row.name for row in found if row.state == "absent" and not row.reason]
    if unexplained:
        raise SystemExit(f"no reason is given why these are absent: {unexplained}")
    same = [row for row in found if row.state == "same"]
    lines = [
        f"# Names of {page.title}",
        "",
        f"Written by `scripts/name_tables.py` from `{page.package}` {first}. Of {len(found)} names",
        f"{len(same)} are the same: whoever calls the one by position or name may call the other.",
        "What a call does differently is in [differences from JAX](differences.md), and which",
        "dtype it has in [dtypes and promotion](dtypes.md).",
    ]
    head = ["", "| name | state | because |", "|---|---|---|"]
    if len(same) < len(found):
        lines += ["", "## Absent, or with other parameters", *head]
    lines += [f"| `{r.name}` | {r.state} | {r.reason} |" for r in found if r.state != "same"]
    newer = [row for row in stored(page, later) if row.state != "same" and row not in found]
    if newer:
        lines += ["", f"## What `{page.package}` {later} has besides", *head]
    lines += [f"| `{r.name}` | {r.state} | {r.reason or 'not here yet'} |" for r in newer]
    for prefix in dict.fromkeys(map(place, found)):
        own = [r.name.rpartition(".")[2] for r in same if place(r) == prefix]
        if own:
            names = ", ".join(f"`{name}`" for name in own)
            lines += ["", f"## The same: `{prefix}`", "", textwrap.fill(names, 120)]
    return "\n".join(lines) + "\n"


def update(path: Path, content: str, check: bool) -> bool:
    """Write a file unless it is only to be compared; tell whether it was another."""
    if path.exists() and path.read_text(encoding="utf-8") == content:
        return False
    if not check:
        path.write_text(content, encoding="utf-8")
    return True


def main() -> int:
    """Write tables, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    check = parser.parse_args().check
    stale = []
    for package, releases in REFERENCES.items():
        release = version(package)
        if release not in releases:
            print(f"{package} {release} is none of the references: {', '.join(releases)}")
            continue
        found = [row for page in PAGES if page.package == package for row in rows(page)]
        both = [
            [row for row in x if row.name not in OF_OTHERS]
            for x in (found, table(package, release))
        ]
        if both[0] != both[1]:
            path = TABLES / f"{package}-{release}.tsv"
            update(path, "".join("\t".join(row) + "\n" for row in found), check)
            stale.append(path.name)
        print(f"{package} {release}: compared")
    if stale and check:
        print(f"{', '.join(stale)}: out of date; run: uv run python scripts/name_tables.py")
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main())
