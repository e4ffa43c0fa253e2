"""Write the parts of pages that follow from the code or from records: promotion, settings, imports.

The parts stand between `<!-- begin NAME -->` and `<!-- end NAME -->`; the pictures of the layers
are in `docs/pictures/layers`, that of meshes beside them.

    uv run python scripts/pages.py          # write the parts again
    uv run python scripts/pages.py --check  # compare only
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from accuracy_page import accuracy
from mesh_scaling_page import kinds_of_devices, mesh_scaling
from mesh_scaling_page import picture as picture_of_scaling

import bindax
import bindax.numpy as jnp
from bindax_core.extend import ShapedArray

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures/layers"
PART = "<!-- begin {name} -->\n{text}\n<!-- end {name} -->"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


# ----------------------------------------------------------------------------------- promotion

DTYPES = {
    "b1": "bool",
    **{f"{kind[0]}{n}": f"{kind}{n}" for kind in ("uint", "int") for n in (8, 16, 32, 64)},
    "bf16": "bfloat16",
    **{f"f{n}": f"float{n}" for n in (16, 32, 64)},
    **{f"c{n}": f"complex{n}" for n in (64, 128)},
}
NUMBERS = {"i*": 1, "f*": 1.0, "c*": 1j}


def promotion() -> str:
    """Return the table of what two operands of an operator promote to."""
    short = {name: label for label, name in DTYPES.items()}
    operands: dict[str, Any] = {
        label: ShapedArray((), jnp.zeros((), name).dtype) for label, name in DTYPES.items()
    } | NUMBERS

    def promoted(left: Any, right: Any) -> str:
        out = bindax.eval_shape(jnp.maximum, left, right)
        if out.weak_type:
            return f"`{np.dtype(out.dtype).kind}*`"
        return short[out.dtype.name]

    rows = [
        [f"`{left}`", *(promoted(operands[left], operands[right]) for right in operands)]
        for left in operands
    ]
    return table(["with", *(f"`{label}`" for label in operands)], rows)


# ------------------------------------------------------------------------------------ settings


def settings() -> str:
    """Return the table of settings, from their declarations."""
    rows = []
    for name in bindax.config.names():
        setting = bindax.config.setting(name)
        words = " ".join(setting.help.split()).replace("``", "`")
        rows.append([f"`{name}`", code(setting.variables[:1]), words])
    return table(["setting", "environment variable", "meaning"], rows)


# ----------------------------------------------------------------------------------- contracts

LAYER = re.compile(r"\s*[|:]\s*")
"""The separator of the modules of one layer."""


def importlinter() -> dict[str, Any]:
    """Return the settings of the import linter."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: dict[str, Any] = project["tool"]["importlinter"]
    return found


def contracts() -> list[dict[str, Any]]:
    """Return the import contracts of the repository."""
    found: list[dict[str, Any]] = importlinter()["contracts"]
    return found


def code(modules: Sequence[str]) -> str:
    """Return names of modules as code."""
    return ", ".join(f"`{name}`" for name in modules)


def described(modules: Sequence[str]) -> str:
    """Return names of modules as code; long lists by what they have in common, if they have."""
    packages, named = set(importlinter()["root_packages"]), set(modules)
    inside = {name for name in named if name.partition(".")[0] in packages}
    if len(packages - named) <= 2 < len(named) and named >= inside > set():
        others = sorted(packages - named)
        extra = sorted(named - packages)
        every = f"every package but {code(others)}" if others else "every package"
        return f"{every}, {code(extra)}" if extra else every
    homes = {name.partition(".")[0] for name in named}
    if len(named) > 5 and len(homes) == 1 and all("._" in name for name in named):
        return f"the private modules of {code(sorted(homes))}"
    return code(modules)


def sentence(contract: dict[str, Any]) -> str:
    """Say what a contract allows or forbids."""
    match contract["type"]:
        case "layers":
            layers = [code(LAYER.split(layer)) for layer in contract["layers"]]
            return "imports go from left to right: " + " → ".join(layers)
        case "forbidden":
            sources, targets = contract["source_modules"], contract["forbidden_modules"]
            return f"no import of {described(targets)} in {described(sources)}"
        case "protected":
            protected, allowed = contract["protected_modules"], contract["allowed_importers"]
            return f"{code(protected)}: imported by {code(allowed)} alone"
        case "independence":
            return f"no imports between {code(contract['modules'])}"
        case "acyclic_siblings":
            return f"no circle between the files of {code(contract['ancestors'])}"
    return str(contract["type"])


def rules_of_import() -> str:
    """Return the table of import contracts."""
    rows = [[contract["name"], sentence(contract)] for contract in contracts()]
    return table(["contract", "holds"], rows)


# ------------------------------------------------------------------------------------ pictures

PAPER, INK, SOFT, LINE = "#fbfaf7", "#1f2933", "#5b6770", "#c9ced3"
HUES = ("#2f6fb0", "#3f8f5b", "#d9772b", "#7d5ba6", "#c2413b", "#2f8f9d", "#8a6d3b", "#5b6770")
FONT = 'font-family="ui-monospace, DejaVu Sans Mono, monospace"'
WIDTH, ROW, GAP, EDGE = 820, 40, 16, 22


def layers_picture(layers: Sequence[Sequence[str]]) -> str:
    """Return an SVG of layers, the top one first; boxes of a layer stand side by side."""
    height = 2 * EDGE + len(layers) * ROW + (len(layers) - 1) * GAP
    frame = f'x="1" y="1" width="{WIDTH - 2}" height="{height - 2}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {FONT}>',
        f'<rect {frame} rx="14" fill="{PAPER}" stroke="{LINE}"/>',
    ]
    for row, names in enumerate(layers):
        top = EDGE + row * (ROW + GAP)
        lines += boxes(names, top, HUES[row % len(HUES)])
        if row:
            lines.append(down_arrow(top - GAP))
    return "\n".join([*lines, "</svg>\n"])


def boxes(names: Sequence[str], top: int, hue: str) -> Iterator[str]:
    """Yield the boxes of one layer."""
    width = (WIDTH - 2 * EDGE - (len(names) - 1) * GAP) / len(names)
    for column, name in enumerate(names):
        left = EDGE + column * (width + GAP)
        # Long names in narrow boxes are drawn smaller.
        size = min(13.0, 1.5 * width / len(name))
        yield (
            f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW}" rx="8" '
            f'fill="{hue}" fill-opacity="0.13" stroke="{hue}"/>'
        )
        yield (
            f'<text x="{left + width / 2:.1f}" y="{top + ROW / 2 + 4.5}" text-anchor="middle" '
            f'font-size="{size:.1f}" fill="{INK}">{escape(name)}</text>'
        )


def down_arrow(top: int) -> str:
    """Return an arrow between two layers."""
    x, tip = WIDTH / 2, top + GAP - 2
    return (
        f'<path d="M{x} {top + 1} V{tip} M{x - 4} {tip - 4} L{x} {tip} L{x + 4} {tip - 4}" '
        f'fill="none" stroke="{SOFT}" stroke-width="1.5"/>'
    )


def layer_names(contract: dict[str, Any]) -> list[list[str]]:
    """Return the layers of a contract, without the package that they have in common."""
    layers = [LAYER.split(layer) for layer in contract["layers"]]
    names = [name for layer in layers for name in layer]
    prefix = names[0].partition(".")[0] + "."
    shared = all(name.startswith(prefix) for name in names)
    return [[name.removeprefix(prefix) if shared else name for name in layer] for layer in layers]


def with_packages_beside(layers: list[list[str]]) -> list[list[str]]:
    """Return layers of packages, and beside them those that no layer holds.

    Such a package stands in the lowest layer that it must not import.
    """
    placed = {name for layer in layers for name in layer}
    forbidding = [contract for contract in contracts() if contract["type"] == "forbidden"]
    drawn = [list(layer) for layer in layers]
    for package in importlinter()["root_packages"]:
        if package in placed:
            continue
        forbidden = {
            name
            for contract in forbidding
            if package in contract["source_modules"]
            for name in contract["forbidden_modules"]
        }
        rows = [row for row, layer in enumerate(layers) if forbidden.intersection(layer)]
        drawn[max(rows, default=0)].append(package)
    return drawn


def pictures() -> dict[str, str]:
    """Return the text of each picture by the name of its file: one for each contract of layers."""
    drawn = {}
    for contract in contracts():
        if contract["type"] == "layers":
            layers = layer_names(contract)
            if contract["id"] == "packages":
                layers = with_packages_beside(layers)
            drawn[f"{contract['id']}.svg"] = layers_picture(layers)
    return drawn


# --------------------------------------------------------------------------------- the program

PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "promotion": ("dtypes.md", promotion),
    "settings": ("settings.md", settings),
    "contracts": ("architecture.md", rules_of_import),
    "accuracy": ("reference/accuracy.md", accuracy),
    "mesh scaling": ("inspect_mesh.md", mesh_scaling),
    "kinds of devices": ("inspect_mesh.md", kinds_of_devices),
}


def wanted() -> dict[Path, str]:
    """Return the text that each page and picture should have."""
    texts = {PICTURES / name: text for name, text in pictures().items()}
    texts[DOCS / "pictures/scaling.svg"] = picture_of_scaling()
    for name, (page, write) in PARTS.items():
        path = DOCS / page
        page_text = texts.get(path) or path.read_text(encoding="utf-8")
        part = re.compile(f"<!-- begin {name} -->\n.*?<!-- end {name} -->", re.DOTALL)
        place = part.search(page_text)
        if place is None:
            raise SystemExit(
                f"{page} has no place for {name}: a line that begins and one that ends"
            )
        filled = PART.format(name=name, text=write())
        texts[path] = page_text[: place.start()] + filled + page_text[place.end() :]
    return texts


def outdated() -> list[Path]:
    """Return the files that are not what would be written now."""
    texts = wanted()
    stale = [path for path in PICTURES.glob("*.svg") if path not in texts]
    changed = [
        path
        for path, text in texts.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    return sorted([*stale, *changed])


def main(arguments: Sequence[str]) -> int:
    """Write or compare the files."""
    files = outdated()
    if "--check" in arguments:
        for path in files:
            print(f"out of date: {path.relative_to(ROOT)}; run uv run python scripts/pages.py")
        return bool(files)
    texts = wanted()
    for path in files:
        if path in texts:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path], encoding="utf-8")
        else:
            path.unlink()
    print(f"{len(files)} of {len(texts)} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
