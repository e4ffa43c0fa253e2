"""Reading: from text to jaxprs. Nothing in a text is trusted to be what was written."""

from __future__ import annotations

import base64
import math
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.errors import JaxprTextError
from bindax_core.extend import (
    AbstractValue,
    Array,
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    ShapedArray,
    SourceInfo,
    Transformation,
    Var,
    float0,
    is_value,
    typecheck_jaxpr,
    typeof,
)
from bindax_text._checksum import check_rest
from bindax_text._distributions import find_primitive, require, require_form
from bindax_text._numbers import HEADER, RESERVED, VERSION, read_number
from bindax_text._read_types import TypeReader, at
from bindax_text._tokens import Tokens
from bindax_text._treedefs import read_treedef

_MAX_DEPTH = 100
_HEADER = re.compile(r"bindax jaxpr ([0-9]{1,9})\n")
_USES = re.compile(r"uses ([a-z0-9][a-z0-9-]*) (\S+)\n")


def read_text(text: Any, any_version: bool) -> ClosedJaxpr:
    """Read a jaxpr; see ``jaxpr_from_text``."""
    if not isinstance(text, str):
        raise JaxprTextError(f"the text of a jaxpr is a str, got a {type(text).__name__}.")
    header = _HEADER.match(text)
    if header is None:
        raise JaxprTextError(
            f"line 1: a jaxpr as text begins with {HEADER.strip()!r}, found {text[:40]!r}."
        )
    if int(header[1]) != VERSION:
        raise JaxprTextError(
            f"line 1: the text has version {header[1]} of the format, and this version of bindax "
            f"reads version {VERSION}."
        )
    used: set[str] = set()
    position = check_rest(text, header.end())
    while (line := _USES.match(text, position)) is not None:
        tokens = Tokens(text, position)
        if line[1] in used:
            raise tokens.error(f"the distribution {line[1]} is named twice")
        at(tokens, "", require, line[1], line[2], any_version)
        used.add(line[1])
        position = line.end()
    return _Reader(Tokens(text, position), used).text()


class _Reader(TypeReader):
    """Reads the definitions of a text."""

    def __init__(self, tokens: Tokens, used: set[str]) -> None:
        super().__init__(tokens)
        self._used = used
        self._arrays: list[Array] = []
        self._programs: list[ClosedJaxpr] = []

    def text(self) -> ClosedJaxpr:
        """Read all definitions; the last jaxpr is the one that was written."""
        while self.tokens.has("array"):
            self.tokens.expect(f"#{len(self._arrays)}")
            self._arrays.append(self._array())
        while self.tokens.has("program"):
            self.tokens.expect(f"@{len(self._programs)}")
            self._programs.append(self._program())
        if self.tokens.next.kind != "end":
            self.tokens.fail("expected 'program' or the end of the text")
        if not self._programs:
            self.tokens.fail("expected 'program'")
        return self._programs[-1]

    def _defined(self, earlier: list[Any]) -> Any:
        """Take the mark of an earlier definition; what was defined under it."""
        number = self.tokens.next.text[1:]
        if len(number) > 9 or int(number) >= len(earlier):
            self.tokens.fail("expected the mark of an earlier definition")
        self.tokens.take()
        return earlier[int(number)]

    # -------------------------------------------------------------------------------- arrays

    def _array(self) -> Array:
        aval = self.type()
        if type(aval) is not ShapedArray:
            raise self.tokens.error("an array has a type such as float32[3]")
        payload = self.tokens.take_string()
        found: Array = at(self.tokens, "an array is damaged: ", _decoded, payload, aval)
        return found

    # ------------------------------------------------------------------------------ programs

    def _program(self) -> ClosedJaxpr:
        tokens = self.tokens
        names: dict[str, Var] = {}
        constvars: list[Var] = []
        consts: list[Any] = []
        invars: list[Var] = []
        self.mesh = self.named_mesh() if tokens.has("on") else None
        tokens.expect("(")
        for _ in tokens.parts(")"):
            v = self._binder(names)
            if tokens.has("="):
                if invars:
                    raise tokens.error("constants come before arguments")
                constvars.append(v)
                consts.append(self._constant(v))
            else:
                invars.append(v)
        eqns = []
        while not tokens.has("return"):
            eqns.append(self._equation(names))
        tokens.expect("(")
        outs = self._atoms(names)
        closed = ClosedJaxpr(Jaxpr(constvars, invars, outs, eqns), consts)
        at(tokens, "the program is not well typed: ", typecheck_jaxpr, closed)
        return closed

    def _binder(self, names: dict[str, Var]) -> Var:
        name = self.tokens.take_kind("name", "a variable")
        if name in RESERVED or name in names:
            raise self.tokens.error(f"{name!r} is no name for a new variable")
        self.tokens.expect(":")
        names[name] = Var(self.type())
        return names[name]

    def _constant(self, v: Var) -> Any:
        value = self._operand()
        if typeof(value).strip_weak_type() != v.aval.strip_weak_type():
            raise self.tokens.error(
                f"a constant of type {v.aval.str_short()} has the value of a "
                f"{typeof(value).str_short()}"
            )
        return value

    def _equation(self, names: dict[str, Var]) -> JaxprEqn:
        tokens = self.tokens
        # The results are not bound before the operands were read.
        bound: dict[str, Var] = {}
        for _ in tokens.parts("="):
            if tokens.next.text in names:
                tokens.fail("expected the name of a new variable")
            self._binder(bound)
        primitive = self._primitive()
        params = self.fields("]", 0) if tokens.has("[") else {}
        tokens.expect("(")
        operands = self._atoms(names)
        names.update(bound)
        source = self._origin() if tokens.has("from") else None
        return JaxprEqn(primitive, operands, list(bound.values()), params, source)

    def _origin(self) -> SourceInfo:
        """The line of an equation and its stack of names."""
        tokens = self.tokens
        tokens.expect("(")
        file = tokens.take_string()
        tokens.expect(",")
        if not tokens.next.text.isdigit() or len(tokens.next.text) > 9:
            tokens.fail("expected the number of a line")
        line = int(tokens.take().text)
        tokens.expect(",")
        function = tokens.take_string()
        stack: list[str] = []
        while not tokens.has(")"):
            tokens.expect(",")
            if tokens.next.kind == "name":
                stack.append(Transformation(tokens.take().text))
            else:
                stack.append(tokens.take_string())
        return SourceInfo.of_line(file, line, function, tuple(stack))

    def _atoms(self, names: dict[str, Var]) -> list[Atom]:
        """Variables and literals, to the closing bracket."""
        atoms: list[Atom] = []
        for _ in self.tokens.parts(")"):
            token = self.tokens.next
            if token.kind == "name" and token.text in names:
                atoms.append(names[self.tokens.take().text])
            else:
                value = self._operand()
                atoms.append(Literal(value, typeof(value)))
        return atoms

    def _operand(self) -> Any:
        """A constant or literal."""
        value = self._value(0)
        if not is_value(value) or not isinstance(typeof(value), AbstractValue):
            raise self.tokens.error(f"a {type(value).__name__} is no operand")
        return value

    # ---------------------------------------------------------------------------- parameters

    def _value(self, depth: int) -> Any:
        """A parameter, or something in one."""
        if depth > _MAX_DEPTH:
            raise self.tokens.error(f"values are nested more than {_MAX_DEPTH} levels deep")
        token = self.tokens.next
        if token.text in _NUMERIC or token.kind == "number":
            number = self._number()
            return self._scalar(number) if self.tokens.has(":") else number
        if token.kind == "string":
            return self.tokens.take_string()
        if token.kind == "qualified":
            return self.of_form(depth + 1)
        if token.kind == "mark":
            return self._defined(self._programs if token.text[0] == "@" else self._arrays)
        if token.text in _CONSTANTS:
            return _CONSTANTS[self.tokens.take().text]
        read = _READERS.get(token.text)
        if read is None:
            self.tokens.fail("expected a value")
        self.tokens.take()
        return read(self, depth + 1)

    def _number(self) -> bool | int | float | complex:
        text = self.tokens.next.text
        if text in ("True", "False"):
            return self.tokens.take().text == "True"
        if self.tokens.has("complex"):
            return self._complex()
        if text != "nan" and self.tokens.next.kind != "number":
            self.tokens.fail("expected a number")
        kind = int if text.lstrip("-").isdigit() else float
        number = at(self.tokens, "a number is damaged: ", kind, text)
        self.tokens.take()
        return number  # type: ignore[no-any-return]

    def _complex(self) -> complex:
        self.tokens.expect("(")
        real = self._number()
        self.tokens.expect(",")
        parts = (real, self._number())
        self.tokens.expect(")")
        if type(parts[0]) is not float or type(parts[1]) is not float:
            raise self.tokens.error("a complex number has two parts such as 1.0")
        return complex(*parts)

    def _scalar(self, number: Any) -> Array:
        aval = self.type()
        if type(aval) is not ShapedArray or aval.shape != ():
            raise self.tokens.error("a number has a type such as float32[]")
        found = read_number(number, aval.dtype)
        if found is None:
            raise self.tokens.error(f"{number!r} is no {aval.str_short()}")
        return Array.from_numpy(found, aval)

    def _items(self, closing: str, depth: int) -> list[Any]:
        """Values, to the closing bracket, with a comma after the last one or not."""
        items: list[Any] = []
        while not self.tokens.has(closing):
            items.append(self._value(depth))
            if not self.tokens.has(","):
                self.tokens.expect(closing)
                break
        return items

    def _call(self, depth: int) -> list[Any]:
        self.tokens.expect("(")
        return self._items(")", depth)

    def fields(self, closing: str, depth: int) -> dict[str, Any]:
        """``name=value``, separated by commas, to the closing bracket."""
        fields: dict[str, Any] = {}
        for _ in self.tokens.parts(closing):
            name = self.tokens.take_kind("name", "the name of a parameter")
            if name in fields:
                raise self.tokens.error(f"{name!r} is given twice")
            self.tokens.expect("=")
            fields[name] = self._value(depth)
        return fields

    def _dict(self, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for count, _ in enumerate(self.tokens.parts("}"), 1):
            key = self._value(depth)
            self.tokens.expect("=")
            value = self._value(depth)
            at(self.tokens, "the key of a dict: ", found.__setitem__, key, value)
            if len(found) != count:
                raise self.tokens.error(f"the key {key!r:.40} is given twice")
        return found

    def of_form(self, depth: int) -> Any:
        """An instance of a class that has a text form."""
        name, form = self._find("a class", require_form)
        self.tokens.expect("(")
        fields = self.fields(")", depth)
        found = at(self.tokens, f"{name} is damaged: ", form.read, **fields)
        if type(found) is not form.type:
            raise self.tokens.error(f"{name} was read as a {type(found).__name__}")
        return found

    def _find(self, what: str, find: Callable[[str, str], Any]) -> tuple[str, Any]:
        """Take a token ``distribution/name`` and find the primitive or form that it means."""
        name = self.tokens.take_kind("qualified", f"{what}, as distribution/name")
        distribution, _, rest = name.partition("/")
        if distribution not in self._used:
            raise self.tokens.error(
                f"{name} is of a distribution that no line 'uses {distribution} ...' names"
            )
        return name, at(self.tokens, "", find, distribution, rest)

    # --------------------------------------------------------------------- values with a name

    def _frozenset(self, depth: int) -> Any:
        return at(self.tokens, "a frozenset is damaged: ", frozenset, self._call(depth))

    def _slice(self, depth: int) -> slice:
        items = self._call(depth)
        if len(items) != 3:
            raise self.tokens.error("a slice has three parts")
        return slice(*items)

    def _bytes(self) -> Any:
        return at(self.tokens, "bytes are damaged: ", bytes.fromhex, self.tokens.take_string())

    def _treedef(self) -> Any:
        return at(self.tokens, "", read_treedef, self.tokens.take_string())

    def _primitive(self) -> Any:
        return self._find("a primitive", find_primitive)[1]

    def _one(self, read: Callable[[], Any]) -> Any:
        """Read the only argument in brackets."""
        self.tokens.expect("(")
        found = read()
        self.tokens.expect(")")
        return found

    def _numpy(self) -> np.ndarray[Any, Any]:
        found = self._value(_MAX_DEPTH)
        if type(found) is not Array:
            raise self.tokens.error("expected a number with a type, or an array")
        return found.numpy()

    def _numpy_scalar(self) -> Any:
        found = self._numpy()
        if found.shape != ():
            raise self.tokens.error("expected a number")
        return found[()]


_CONSTANTS = {"None": None, "Ellipsis": ...}
_NUMERIC = frozenset(("True", "False", "nan", "complex"))
_READERS: dict[str, Callable[[_Reader, int], Any]] = {
    "(": lambda reader, depth: tuple(reader._items(")", depth)),
    "[": lambda reader, depth: reader._items("]", depth),
    "{": _Reader._dict,
    "bytes": lambda reader, depth: reader._one(reader._bytes),
    "dtype": lambda reader, depth: reader._one(reader.dtype),
    "extended": lambda reader, depth: reader.extended(),
    "frozenset": _Reader._frozenset,
    "ndarray": lambda reader, depth: reader._one(reader._numpy),
    "numpy": lambda reader, depth: reader._one(reader._numpy_scalar),
    "primitive": lambda reader, depth: reader._one(reader._primitive),
    "slice": _Reader._slice,
    "treedef": lambda reader, depth: reader._one(reader._treedef),
    "type": lambda reader, depth: reader._one(reader.type),
}


def _decoded(payload: str, aval: ShapedArray) -> Array:
    """An array from its bytes, little-endian and in the order of C, in base 64."""
    data = base64.b64decode(payload, validate=True)
    if len(data) != math.prod(aval.shape) * aval.dtype.itemsize:
        raise JaxprTextError(f"{aval.str_short()} has {len(data)} bytes")
    if aval.dtype == float0:
        return Array.from_numpy(np.zeros(aval.shape, float0), aval)
    host = np.frombuffer(data, aval.dtype).reshape(aval.shape)
    if aval.dtype == np.bool_ and (host.view(np.uint8) > 1).any():
        raise JaxprTextError("a boolean is neither 0 nor 1")
    return Array.from_numpy(host.byteswap() if sys.byteorder == "big" else host.copy(), aval)
