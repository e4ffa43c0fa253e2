"""Values as HTML for notebooks, folded by ``<details>``; nothing comes from elsewhere."""

from __future__ import annotations

from html import escape
from typing import Any

from bindax_core import typeof
from bindax_text.display.outline import Node, Outline
from bindax_text.display.parts import tree_parts
from bindax_text.display.pictures import histogram_svg, image_of
from bindax_text.display.plain import shortened
from bindax_text.display.summaries import (
    Summary,
    elements_text,
    is_array,
    numbers_text,
    summary_of,
)
from bindax_text.display.totals import note_of

MOST_PICTURES = 60
"""The arrays of one page that have pictures and elements; of further ones the type is shown."""
_OPEN_DEPTH = 2
_STYLE = (
    ".bindax-value{font-family:monospace;font-size:13px;line-height:1.5;color:inherit}"
    ".bindax-value details>:not(summary):not(.end){margin-left:1.4em}"
    ".bindax-value summary{cursor:pointer}"
    ".bindax-value .dim{opacity:.65}"
    ".bindax-value pre{margin:.2em 0;font:inherit;white-space:pre;overflow-x:auto;"
    "color:inherit;background:none}"
    ".bindax-value img{image-rendering:pixelated;min-width:96px;border:1px solid #8886}"
    ".bindax-value svg{vertical-align:middle}"
)


def html_of(value: Any) -> str:
    """A value as HTML, which takes the colors of the page around it.

    >>> html_of([1, 2]).startswith('<div class="bindax-value">')
    True
    """
    return f'<div class="bindax-value"><style>{_STYLE}</style>{_Writer().of(value)}</div>'


class _Writer:
    """Writes one value; counts the arrays that have pictures."""

    def __init__(self) -> None:
        self._pictures = 0

    def of(self, value: Any) -> str:
        """Return the HTML of a value."""
        return self._node(Outline(tree_parts).of(value), 0)

    def _node(self, node: Node, depth: int) -> str:
        label = escape(node.label)
        if node.state == "leaf":
            return self._leaf(label, node.value, depth)
        head = f"{label}{escape(node.start)}"
        if node.state != "open":
            note = "shown above" if node.state == "shared" else "..."
            return f'<div>{head}<span class="dim">{note}</span>{escape(node.end)}</div>'
        if not node.children:
            return f"<div>{head}{escape(node.end)}</div>"
        parts = "".join(self._node(child, depth + 1) for child in node.children)
        if node.hidden:
            parts += f'<div class="dim">... {node.hidden:,} more</div>'
        total = note_of(node, depth)
        note = f' <span class="dim">{escape(total)}</span>' if total else ""
        is_open = " open" if depth < _OPEN_DEPTH else ""
        end = f'<div class="end">{escape(node.end)}</div>'
        return f"<details{is_open}><summary>{head}{note}</summary>{parts}{end}</details>"

    def _leaf(self, label: str, value: Any, depth: int) -> str:
        if not is_array(value):
            return f"<div>{label}<span>{escape(shortened(repr(value)))}</span></div>"
        self._pictures += 1
        if self._pictures > MOST_PICTURES:
            return f"<div>{label}{escape(typeof(value).str_short())}</div>"
        summary = summary_of(value)
        words = [summary.size, summary.where]
        if summary.numbers is not None:
            words.append(numbers_text(summary.numbers))
        note = escape(" · ".join(word for word in words if word))
        bars = "" if summary.numbers is None else histogram_svg(summary.numbers.counts)
        head = f'{label}<b>{escape(summary.type)}</b> <span class="dim">{note}</span> {bars}'
        body = _body(summary)
        if not body:
            return f"<div>{head}</div>"
        is_open = " open" if depth == 0 else ""
        return f"<details{is_open}><summary>{head}</summary>{body}</details>"


def _body(summary: Summary) -> str:
    """The picture and the elements of an array."""
    text = elements_text(summary)
    found = f"<pre>{escape(text)}</pre>" if text else ""
    image = None if summary.host is None else image_of(summary.host)
    if image is None:
        return found
    source, caption = image
    return (
        f'<div><img src="{source}" alt="{escape(caption)}" title="{escape(caption)}"></div>{found}'
    )
