"""The page of what releases of JAX do differently, and what bindax does.

``scripts/behaviours/probes.txt`` has calls; what each gives with a release of JAX is stored beside
it, so that the page and its test need none. bindax is asked as it is, and by the name ``jax``.

    uv run python scripts/jax_behaviours.py --store  # store the answers of the JAX installed
    uv run python scripts/jax_behaviours.py          # write the page
"""

from __future__ import annotations

import enum
import importlib
import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "scripts/behaviours"
PAGE = ROOT / "docs/jax_releases.md"
RELEASES = ("0.10.2", "0.12.0.1")
"""The releases of the table, the old one and the new one."""

MODULES = {
    "jnp": "numpy",
    "lax": "lax",
    "random": "random",
    "nn": "nn",
    "export": "export",
    "linalg": "numpy.linalg",
    "special": "scipy.special",
    "stats": "scipy.stats",
    "sla": "scipy.linalg",
    "sparse": "experimental.sparse",
}
IMPORTED = ("ad_checkpoint", "custom_derivatives", "ffi", "profiler", "tree_util", "ops", "core")
OF_JAX = ("extend.core", "experimental.layout", "interpreters.pxla", "interpreters.partial_eval")


class Row(NamedTuple):
    """A call and what it gives: with both releases, and twice with bindax."""

    call: str
    old: str
    new: str
    plain: str
    as_jax: str


def calls() -> list[str]:
    """Return the calls of ``probes.txt``: its lines, and ``template | names`` for each name."""
    found: list[str] = []
    for line in (FOLDER / "probes.txt").read_text(encoding="utf-8").splitlines():
        template, bar, names = line.partition(" | ")
        if bar:
            found += [template.replace("%", name) for name in names.split()]
        elif line.strip() and not line.startswith("#"):
            found.append(line.strip())
    return found


def described(value: Any) -> str:
    """Return a result as it is compared: arrays by type and four digits, others by value."""
    if isinstance(value, (bool, int, str, type(None), np.dtype, frozenset)):
        return repr(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        inner = ", ".join(f"{key!r}: {described(value[key])}" for key in sorted(value, key=str))
        return f"{{{inner}}}"
    if isinstance(value, (tuple, list)) and not hasattr(value, "_partitions"):
        return f"({', '.join(map(described, value))})"
    if isinstance(value, enum.Enum):
        return value.name
    if hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, type):
        return _array(value)
    if isinstance(value, (type, ModuleType)):
        return f"`{value.__name__}`"
    if callable(value):
        return "a function"
    return f"a {type(value).__name__}"


def _array(value: Any) -> str:
    """Return the type of an array and its elements."""
    weak = "weak " if getattr(value, "weak_type", False) else ""
    kind = f"{weak}{value.dtype}[{','.join(map(str, value.shape))}]"
    try:
        host = np.asarray(value)
    except TypeError:  # keys, and types without values
        return kind
    if host.dtype.kind not in "biufc":
        host = host.astype(np.float32)
    flat = host.reshape(-1)[:12]
    digits = " ".join(f"{x:.4g}" if host.dtype.kind in "fc" else str(int(x)) for x in flat)
    return f"{kind} {digits}".rstrip()


def outcome(call: str, names: dict[str, Any]) -> str:
    """Return what a call gives, or the kind of error that it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return described(eval(call, dict(names)))
    except Exception as error:
        kinds = [kind for kind in type(error).__mro__ if kind.__module__ == "builtins"]
        if AttributeError in kinds:
            return "absent"
        own = [k for k in kinds if not any(k is not one and issubclass(one, k) for one in kinds)]
        return " or ".join(kind.__name__ for kind in own)


def namespace(package: str) -> dict[str, Any]:
    """Return the names that calls use, from JAX, the alias or bindax."""
    top = importlib.import_module(package)
    found: dict[str, Any] = {"jax": top, "np": np}
    for name, path in MODULES.items():
        found[name] = importlib.import_module(f"{package}.{path}")
    for path in IMPORTED if package == "bindax" else (*IMPORTED, *OF_JAX):
        try:
            importlib.import_module(f"{package}.{path}")
        except ImportError:
            continue
    return found


def answers(package: str) -> dict[str, str]:
    """Return what each call gives."""
    names = namespace(package)
    return {call: outcome(call, names) for call in calls()}


def stored(release: str) -> dict[str, str]:
    """Return the stored answers of a release."""
    text = (FOLDER / f"jax-{release}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def changed() -> list[str]:
    """Return the calls that give something else with the new release."""
    old, new = (stored(release) for release in RELEASES)
    return [call for call in calls() if old[call] != new[call]]


def by_alias() -> dict[str, str]:
    """Return what bindax gives by the name ``jax``, in a process of its own."""
    code = (
        "import bindax_jax_names, json, sys; bindax_jax_names.install()\n"
        f"sys.path.insert(0, {str(ROOT / 'scripts')!r})\n"
        "import jax_behaviours; print(json.dumps(jax_behaviours.answers('jax')))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def rows() -> list[Row]:
    """Return the table, with the calls of which all answers are stored."""
    old, new = (stored(release) for release in RELEASES)
    plain, as_jax = answers("bindax"), by_alias()
    return [Row(c, old[c], new[c], plain[c], as_jax[c]) for c in calls()]


def reasons() -> dict[str, str]:
    """Return the reasons of ``reasons.txt`` why a call gives something else, by pattern."""
    lines = (FOLDER / "reasons.txt").read_text(encoding="utf-8").splitlines()
    return {
        pattern.strip(): reason.strip()
        for pattern, bar, reason in (line.partition(" | ") for line in lines)
        if bar
    }


def follows(row: Row) -> bool:
    """Tell whether a call gives by the name ``jax`` what the new release gives.

    An error may be of more kinds than one.
    """
    return row.as_jax == row.new or row.new in row.as_jax.split(" or ")


def reason(row: Row) -> str:
    """Return why a call does not follow the new release by the name ``jax``; empty if it does."""
    if follows(row):
        return ""
    found = [text for start, text in reasons().items() if row.call.startswith(start)]
    return found[-1] if found else "no reason"


def unexplained(table: list[Row]) -> Iterator[str]:
    """Yield what differs without a reason."""
    for row in table:
        if reason(row) == "no reason":
            yield f"{row.call}: {row.as_jax}; {row.new} with JAX {RELEASES[1]}"


def _line(call: str, *cells: str) -> str:
    """Return a line of a table."""
    return "| " + " | ".join(word.replace("|", "\\|") for word in (f"`{call}`", *cells)) + " |"


def text(table: list[Row]) -> str:
    """Return the page."""
    new = [row for row in table if row.old != row.new]
    follow = [row for row in new if follows(row)]
    others = [row for row in table if row.old == row.new and not follows(row)]
    lines = [
        "# Releases of JAX",
        "",
        f"Written by `scripts/jax_behaviours.py`: {len(table)} calls with JAX {RELEASES[0]} and",
        f"{RELEASES[1]}, with bindax, and with bindax by [the name `jax`](jax_programs.md).",
        "Errors are shown by their kind; *absent* is a name that is not there. Of the",
        f"{len(new)} calls that the newer release changed, {len(follow)} give what it gives by the",
        "name `jax`; the others have a reason. `config.jax_release` names another release, for",
        "programs that are written for it.",
        "",
        "## Changed by the newer release",
        "",
        f"| call | JAX {RELEASES[0]} | JAX {RELEASES[1]} | bindax | by the name `jax` | because |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_line(r.call, r.old, r.new, r.plain, r.as_jax, reason(r)) for r in new]
    lines += ["", "## Other differences", "", "| call | JAX | by the name `jax` | because |"]
    lines += ["|---|---|---|---|"]
    lines += [_line(r.call, r.new, r.as_jax, reason(r)) for r in others]
    return "\n".join(lines) + "\n"


def main(words: list[str]) -> int:
    """Store answers, or write the page; return the exit status."""
    if "--store" in words:
        found = answers("jax")
        path = FOLDER / f"jax-{version('jax')}.json"
        path.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(found)} calls")
        return 0
    table = rows()
    wrong = list(unexplained(table))
    print("\n".join(wrong) or "all differences have a reason")
    PAGE.write_text(text(table), encoding="utf-8")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
