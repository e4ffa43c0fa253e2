"""Values as trees of ``rich``, for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bindax_text.display.outline import Node, Outline
from bindax_text.display.parts import tree_parts
from bindax_text.display.pictures import sparkline
from bindax_text.display.plain import shortened
from bindax_text.display.summaries import is_array, numbers_text, summary_of
from bindax_text.display.totals import note_of

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

_LONGEST = 200


def rich_of(value: Any) -> Tree | Text:
    """A value as what ``rich.print`` shows: a line for an array, a tree for others."""
    from rich.tree import Tree

    node = Outline(tree_parts).of(value)
    if node.state == "leaf":
        return _leaf(node)
    root = Tree(_head(node, 0), guide_style="dim")
    _add(root, node, 0)
    return root


def _add(tree: Tree, node: Node, depth: int) -> None:
    from rich.text import Text

    for child in node.children:
        if child.state == "leaf":
            tree.add(_leaf(child))
        else:
            _add(tree.add(_head(child, depth)), child, depth + 1)
    if node.hidden:
        tree.add(Text(f"... {node.hidden:,} more", style="dim"))


def _head(node: Node, depth: int) -> Text:
    from rich.text import Text

    notes = {"shared": "<shared>", "folded": "..."}
    note = notes.get(node.state, note_of(node, depth))
    return Text.assemble(node.label, node.start, node.end, (f" {note}" if note else "", "dim"))


def _leaf(node: Node) -> Text:
    from rich.text import Text

    if not is_array(node.value):
        return Text(node.label + shortened(repr(node.value), _LONGEST))
    found = summary_of(node.value)
    words = [found.size, found.where]
    bars = ""
    if found.numbers is not None:
        words.append(numbers_text(found.numbers))
        bars = sparkline(found.numbers.counts)
    note = ", ".join(word for word in words if word)
    text = Text.assemble(node.label, (found.type, "bold"), (f"  {note}", "dim"))
    return Text.assemble(text, (f"  {bars}", "cyan")) if bars else text
