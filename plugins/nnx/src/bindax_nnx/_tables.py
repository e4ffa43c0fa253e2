"""Tables as text: cells of several lines, between lines, with a title and a caption."""

from __future__ import annotations

from collections.abc import Sequence


def table(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], footer: Sequence[str]
) -> str:
    r"""A table with a head, rows of cells that may have several lines, and a foot.

    >>> print(table("Sizes", ("name", "n"), [("a", "1"), ("b\nc", "20")], ("Total", "21")))
          Sizes
    ┏━━━━━━━┳━━━━┓
    ┃ name  ┃ n  ┃
    ┡━━━━━━━╇━━━━┩
    │ a     │ 1  │
    ├───────┼────┤
    │ b     │ 20 │
    │ c     │    │
    ├───────┼────┤
    │ Total │ 21 │
    └───────┴────┘
    """
    lines = [line for row in (header, *rows, footer) for line in _lines(row)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    parts = [_row(header, widths, "┃"), _rule(widths, "┡━╇┩")]
    for row in rows:
        parts += [_row(row, widths, "│"), _rule(widths, "├─┼┤")]
    parts += [_row(footer, widths, "│"), _rule(widths, "└─┴┘")]
    whole = sum(widths) + 3 * len(widths) + 1
    return "\n".join([centered(title, whole), _rule(widths, "┏━┳┓"), *parts])


def centered(text: str, width: int) -> str:
    """A line of a width with a text in its middle, without spaces at its end."""
    return text.center(width).rstrip()


def _lines(row: Sequence[str]) -> list[tuple[str, ...]]:
    cells = [cell.split("\n") for cell in row]
    height = max(map(len, cells))
    return list(zip(*[cell + [""] * (height - len(cell)) for cell in cells], strict=True))


def _row(row: Sequence[str], widths: Sequence[int], bar: str) -> str:
    return "\n".join(
        " ".join([bar, f" {bar} ".join(x.ljust(n) for x, n in zip(line, widths, strict=True)), bar])
        for line in _lines(row)
    )


def _rule(widths: Sequence[int], pieces: str) -> str:
    left, line, cross, right = tuple(pieces)
    return left + cross.join(line * (width + 2) for width in widths) + right
