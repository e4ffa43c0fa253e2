"""The notebooks as pages of the site: run when it is built, with what their cells print and draw.

They are stored without results. A cell that raises stops the build.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs/notebooks"
SECONDS = 300
"""The time that a cell may take, on a machine that has other things to do."""


def files() -> list[Path]:
    """Return the notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def executed(file: Path) -> dict[str, Any]:
    """Run a notebook from top to bottom in a process of its own; return it with its results."""
    nbclient, nbformat = import_module("nbclient"), import_module("nbformat")
    Config = import_module("traitlets.config").Config
    notebook = nbformat.read(file, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        sockets = {"transport": "ipc", "ip": f"{folder}/kernel"}  # ports might be those of another
        settings = Config() if os.name == "nt" else Config(KernelManager=sockets)
        nbclient.NotebookClient(
            notebook, timeout=SECONDS, startup_timeout=SECONDS, config=settings
        ).execute()
    found: dict[str, Any] = json.loads(nbformat.writes(notebook))
    return found


@functools.cache
def all_executed() -> dict[Path, dict[str, Any]]:
    """Run all notebooks at the same time."""
    with ThreadPoolExecutor() as pool:
        return dict(zip(files(), pool.map(executed, files()), strict=True))


def pages() -> dict[str, str | bytes]:
    """Return the page and the pictures of each notebook, by the name of the file on the site."""
    found: dict[str, str | bytes] = {}
    for file, notebook in all_executed().items():
        lines, pictures = page(file.stem, notebook)
        found[f"notebooks/{file.stem}.md"] = "\n\n".join(lines) + "\n"
        found |= {f"notebooks/{name}": picture for name, picture in pictures.items()}
    return found


def page(name: str, notebook: dict[str, Any]) -> tuple[list[str], dict[str, bytes]]:
    """Return the Markdown of a notebook that was run, and its pictures."""
    lines: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook["cells"]:
        text = joined(cell["source"])
        if cell["cell_type"] == "markdown":
            lines.append(text)
            if len(lines) == 1:
                lines.append(f"[Open as a notebook]({name}.ipynb)")
            continue
        lines.append(f"```python\n{text}\n```")
        for output in cell["outputs"]:
            shown = output.get("data", {"text/plain": output.get("text", "")})
            if "image/png" in shown:
                picture = f"{name}-{len(pictures)}.png"
                pictures[picture] = base64.b64decode(shown["image/png"])
                lines.append(f"![{alternative(text)}]({picture})")
            else:
                lines.append(f"```text\n{joined(shown['text/plain']).rstrip()}\n```")
    return lines, pictures


def joined(text: str | list[str]) -> str:
    """Return the text of a cell, which is stored as one string or as lines."""
    return text if isinstance(text, str) else "".join(text)


def alternative(code: str) -> str:
    """Return a description of what code draws: its first comment, or the labels of its axes."""
    comments = [line[1:].strip() for line in code.splitlines() if line.startswith("#")]
    return comments[0] if comments else "the picture that the code above draws"


def names() -> set[str]:
    """Return the names of the pages."""
    return {f"notebooks/{file.stem}.md" for file in files()}
