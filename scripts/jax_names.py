"""Add the public module paths and names of the JAX that is installed to those of other releases.

``uv run python scripts/jax_names.py`` writes ``plugins/jax_names/src/bindax_jax_names/names.txt``,
one line for each module: its path, a colon, its names. The alias knows from it which names JAX has,
so that a name that bindax lacks and one that nobody has get different messages. Names that a later
release removed stay, for packages that are written for an earlier one.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import types
import warnings
from pathlib import Path

TARGET = Path(__file__).parent.parent / "plugins/jax_names/src/bindax_jax_names/names.txt"
# Lists of a compiler's operations; packages that name them write for that compiler.
WITHOUT_NAMES = ("jax.extend.mlir.", "jax.experimental.mosaic.", "jax.experimental.pallas.")


def paths() -> list[str]:
    """The public modules of the installed JAX."""
    import jax

    found = ["jax"]
    for module in pkgutil.walk_packages(jax.__path__, "jax.", onerror=lambda name: None):
        parts = module.name.split(".")
        if not any(part.startswith("_") for part in parts) and parts[1] != "tools":
            found.append(module.name)
    return found


def names(path: str, modules: set[str]) -> list[str]:
    """The public names of a module; none of one that needs what is not installed."""
    if path.startswith(WITHOUT_NAMES):
        return []
    try:
        module = importlib.import_module(path)
    except ImportError:
        return []
    found = []
    for name in dir(module):
        value = getattr(module, name, None)
        is_foreign = isinstance(value, types.ModuleType) and f"{path}.{name}" not in modules
        if not name.startswith("_") and not is_foreign and name != "annotations":
            found.append(name)
    return found


def stored() -> tuple[set[str], dict[str, set[str]]]:
    """The releases whose names are in the table, and their names by module."""
    first, *lines = TARGET.read_text(encoding="utf-8").splitlines()
    table = {}
    for line in lines:
        path, _, words = line.partition(":")
        table[path] = set(words.split())
    return set(re.findall(r"[\d.]*\d", first)), table


def main() -> None:
    """Write the table."""
    warnings.simplefilter("ignore")
    import jax

    releases, table = stored()
    modules = paths()
    for path in modules:
        table.setdefault(path, set()).update(names(path, set(modules)))
    known = ", ".join(sorted(releases | {jax.__version__}, key=lambda r: [*map(int, r.split("."))]))
    lines = [f"# JAX {known}; written by scripts/jax_names.py"]
    lines += [f"{path}: {' '.join(sorted(table[path]))}".rstrip() for path in sorted(table)]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(table)} modules")


if __name__ == "__main__":
    main()
