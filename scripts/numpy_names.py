"""Write `docs/numpy_names.md`: every name of `jax.numpy`, and what `bindax.numpy` has for it.

A name is the same where a call for one is a call for the other: each parameter is there, with the
same default, given in the same ways. What differs or is absent needs a reason, here.

    uv run python scripts/numpy_names.py          # write the page again; needs JAX
    uv run python scripts/numpy_names.py --check  # compare only
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/numpy_names.md"
MODULES = ("numpy", "numpy.linalg", "numpy.fft")

SHARDING = "no `out_sharding`: the type of an array says nothing of its sharding"
CHANGED_COPY = "returns a changed copy at once, where JAX asks for `inplace=False`"
CASTS = "no dtype of this width: NumPy has no arithmetic of it to evaluate with"

ABSENT = {
    "numpy.float6_e2m3fn": CASTS,
    "numpy.float6_e3m2fn": CASTS,
    "numpy.int1": CASTS,
    "numpy.uint1": CASTS,
}
DIFFERENT = {
    "numpy.array": "`copy` may be given by position, as in NumPy",
    "numpy.fill_diagonal": CHANGED_COPY,
    "numpy.place": CHANGED_COPY,
    "numpy.put": CHANGED_COPY,
    "numpy.put_along_axis": CHANGED_COPY,
    "numpy.ufunc": "made by `frompyfunc`; `at` returns a changed copy at once",
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
    "device_buffer": "not in JAX any more but as an error",
    "device_buffers": "not in JAX any more but as an error",
    "flat": "raises in JAX; see `ravel`",
    "clone": "see `copy`",
    "format": "layouts are a matter of the backend",
    "is_ready": "see `block_until_ready`",
    "platform": "see `device`",
    "traceback": "arrays do not remember where they were made",
}


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
    """Return a default as it is compared: dtypes by name, functions not at all."""
    if isinstance(value, type):
        return value.__name__
    return "function" if callable(value) else repr(value)


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
        if parameter.kind in various or name.startswith("_"):
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
        elif shown(own.default) != shown(parameter.default):
            yield f"`{name}` is {shown(own.default)} by default"


def compared(module: str, name: str, theirs: Any, mine: ModuleType) -> Row:
    """Compare one name of a module."""
    full = f"{module}.{name}"
    if not hasattr(mine, name):
        return Row(full, "absent", ABSENT.get(full, ""))
    if full in DIFFERENT:
        return Row(full, "differs", DIFFERENT[full])
    own = getattr(mine, name)
    if not callable(theirs) or isinstance(theirs, type) or isinstance(own, type):
        return Row(full, "same", "")
    found = list(dict.fromkeys(mismatches(theirs, own)))
    return Row(full, "differs" if found else "same", ", ".join(found))


def rows() -> Iterator[Row]:
    """Yield all names of the modules and of arrays, in order."""
    for module in MODULES:
        theirs = importlib.import_module(f"jax.{module}")
        mine = importlib.import_module(f"bindax.{module}")
        for name in sorted(n for n in dir(theirs) if not n.startswith("_")):
            yield compared(module, name, getattr(theirs, name), mine)
    space = importlib.import_module("bindax.numpy")
    array = importlib.import_module("jax.numpy").zeros((2, 2))
    for name in sorted(n for n in dir(type(array)) if not n.startswith("_")):
        there = name in dir(space.zeros((2, 2))) or hasattr(space.zeros((2, 2)), name)
        full = f"Array.{name}"
        yield Row(full, "same", "") if there else Row(full, "absent", ARRAY_ABSENT.get(name, ""))


def page() -> str:
    """Return the page."""
    found = list(rows())
    unexplained = [row.name for row in found if row.state == "absent" and not row.reason]
    if unexplained:
        raise SystemExit(f"no reason is given why these are absent: {unexplained}")
    same = [row for row in found if row.state == "same"]
    lines = [
        "# Names of `jax.numpy`",
        "",
        f"Written by `scripts/numpy_names.py` from `jax` {version('jax')}. Of {len(found)} names",
        f"{len(same)} are the same: whoever calls the one by position or name may call the other.",
        "What a call does differently is in [differences from JAX](differences.md), and which",
        "dtype it has in [dtypes and promotion](dtypes.md).",
        "",
        "## Absent, or with other parameters",
        "",
        "| name | | because |",
        "|---|---|---|",
    ]
    lines += [f"| `{r.name}` | {r.state} | {r.reason} |" for r in found if r.state != "same"]
    for prefix in (*MODULES, "Array"):
        own = [r.name.rpartition(".") for r in same]
        names = ", ".join(f"`{name}`" for place, _, name in own if place == prefix)
        lines += ["", f"## The same: `{prefix}`", "", textwrap.fill(names, 120)]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    if parser.parse_args().check:
        if PAGE.read_text(encoding="utf-8") == page():
            return 0
        print(f"{PAGE.name} is out of date; run: uv run python scripts/numpy_names.py")
        return 1
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
