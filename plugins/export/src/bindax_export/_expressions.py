"""Dimension expressions from text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bindax_export._dimensions import Size, max_dim, min_dim, variable

if TYPE_CHECKING:
    from bindax_export._scope import SymbolicScope

_TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|(\.\.\.|[-+*^(),_]))")
_FUNCTIONS: dict[str, Any] = {
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "max": max_dim,
    "min": min_dim,
}


class Parser:
    """Reads dimension expressions by recursive descent."""

    def __init__(self, text: str, scope: SymbolicScope) -> None:
        self.text = text
        self.scope = scope
        self.tokens: list[str] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                raise self.error(f"{text[at:].strip()[0]!r} is no part of a dimension expression")
            self.tokens.append(match.group().strip())
            at = match.end()

    def error(self, reason: str) -> ValueError:
        return ValueError(
            f"the symbolic shape {self.text!r} does not parse: {reason}. A dimension is made of "
            f"integers, names, +, -, *, ^ and floordiv(a, b), mod(a, b), max(a, b), min(a, b); "
            f"dimensions are separated by commas, as in 'b, 2*b + 1, 3'."
        )

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self, expected: str | None = None) -> str:
        if not self.tokens:
            raise self.error(f"it ends where {expected or 'a dimension'} is expected")
        token = self.tokens.pop(0)
        if expected is not None and token != expected:
            raise self.error(f"{token!r} stands where {expected!r} is expected")
        return token

    def sum(self) -> Size:
        total: Size = 0
        sign = self.take() if self.peek() in ("+", "-") else "+"
        while True:
            term = self.product()
            total = total - term if sign == "-" else total + term
            if self.peek() not in ("+", "-"):
                return total
            sign = self.take()

    def product(self) -> Size:
        result = self.power()
        while self.peek() == "*":
            self.take()
            result = result * self.power()
        return result

    def power(self) -> Size:
        base = self.factor()
        if self.peek() == "^":
            self.take()
            exponent = self.take()
            if not exponent.isdigit():
                raise self.error(f"the exponent {exponent!r} is no integer")
            return base ** int(exponent)
        return base

    def factor(self) -> Size:
        token = self.take()
        if token.isdigit():
            return int(token)
        if token == "-":
            return -self.factor()
        if token == "(":
            inner = self.sum()
            self.take(")")
            return inner
        if token in _FUNCTIONS and self.peek() == "(":
            self.take()
            left = self.sum()
            self.take(",")
            right = self.sum()
            self.take(")")
            return _FUNCTIONS[token](left, right)
        if not token.isidentifier() or token == "_":
            raise self.error(f"{token!r} stands where a dimension is expected")
        return variable(token, self.scope)


def parse_size(text: str, scope: SymbolicScope) -> Size:
    """The size that a text is of."""
    parser = Parser(text, scope)
    size = parser.sum()
    if parser.tokens:
        raise parser.error(f"{parser.tokens[0]!r} follows a complete dimension")
    return size
