"""The page as one file: its data compressed, with the styles and the script of this package."""

from __future__ import annotations

import base64
import gzip
import html
import json
from importlib.resources import files
from typing import TYPE_CHECKING

from bindax_inspect.page.data import page_data

if TYPE_CHECKING:
    from bindax_inspect.report.report import Report

SCRIPTS = ("state.js", "panes.js", "source.js", "charts.js", "details.js", "main.js")


def page_of(report: Report) -> str:
    """Return the page of a report: HTML without anything from elsewhere."""
    assets = files("bindax_inspect.page") / "assets"
    template, style = (
        (assets / name).read_text(encoding="utf-8") for name in ("page.html", "style.css")
    )
    script = "\n".join((assets / name).read_text(encoding="utf-8") for name in SCRIPTS)
    text = json.dumps(page_data(report), separators=(",", ":"))
    packed = base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()
    parts = {"TITLE": html.escape(report.program.name), "STYLE": style, "SCRIPT": script}
    for name, part in {**parts, "DATA": packed}.items():
        template = template.replace(f"<!--{name}-->", part)
    return template


def frame_of(report: Report, height: int = 640) -> str:
    """Return the page inside a frame, for a cell of a notebook."""
    page = html.escape(page_of(report), quote=True)
    return (
        f'<iframe srcdoc="{page}" style="width:100%;height:{height}px;border:1px solid #8884" '
        f'title="report of {html.escape(report.program.name)}"></iframe>'
    )
