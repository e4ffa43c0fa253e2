"""The tokens of a text, one after the other, with their lines for messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from bindax_core.errors import JaxprTextError

QUALIFIED = re.compile(r"[a-z0-9][a-z0-9-]*/[^\s()\[\]{}=:,;\"]+")
"""``distribution/name``, of a primitive or a class."""

_TOKEN = re.compile(
    rf"""(?P<qualified>{QUALIFIED.pattern})
    |(?P<number>-?(?:inf\b|[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<string>"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+")
    |(?P<mark>[@\#][0-9]+)
    |(?P<sign>[()\[\]{{}}=:,~@])""",
    re.VERBOSE,
)
_SPACE = re.compile(r"\s*")


class Token(NamedTuple):
    """A token: its kind, which is the name of a group of the pattern, its text and its position."""

    kind: str
    text: str
    start: int


class Tokens:
    """Reads the tokens of a text from a position on.

    Attributes:
        next: the token that comes next; of the kind ``end`` at the end of the text, and of the kind
            ``damage`` where no token begins, which nothing takes.
    """

    def __init__(self, source: str, start: int) -> None:
        self._source = source
        self.next = self._scan(start)

    def _scan(self, start: int) -> Token:
        start = _SPACE.match(self._source, start).end()  # type: ignore[union-attr]
        match = _TOKEN.match(self._source, start)
        if match is None:
            kind = "end" if start == len(self._source) else "damage"
            return Token(kind, self._source[start : start + 20], start)
        return Token(match.lastgroup or "", match[0], start)

    def take(self) -> Token:
        """Take the next token."""
        token = self.next
        self.next = self._scan(token.start + len(token.text))
        return token

    def take_kind(self, kind: str, wanted: str) -> str:
        """Take the next token, which must be of a kind; its text."""
        if self.next.kind != kind:
            self.fail(f"expected {wanted}")
        return self.take().text

    def take_string(self) -> str:
        """Take the next token, a string as JSON writes it; its value."""
        text = self.take_kind("string", "a string")
        try:
            return str(json.loads(text))
        except ValueError as error:
            raise self.error(f"a string is damaged: {error}") from error

    def has(self, text: str) -> bool:
        """Take the next token if it is this one; whether it was."""
        found = self.next.text == text
        if found:
            self.take()
        return found

    def expect(self, text: str) -> None:
        """Take the next token, which must be this one."""
        if not self.has(text):
            self.fail(f"expected {text!r}")

    def parts(self, closing: str) -> Iterator[None]:
        """Yield before each part of what ends with a bracket, with commas between the parts."""
        is_first = True
        while not self.has(closing):
            if not is_first:
                self.expect(",")
            is_first = False
            yield

    def fail(self, message: str) -> NoReturn:
        """Raise an error that shows the next token."""
        found = "the end of the text" if self.next.kind == "end" else repr(self.next.text[:40])
        raise self.error(f"{message}, found {found}")

    def error(self, message: str) -> JaxprTextError:
        """Make an error with the line of the next token."""
        line = self._source.count("\n", 0, self.next.start) + 1
        return JaxprTextError(f"line {line}: {message.removesuffix('.')}.")
