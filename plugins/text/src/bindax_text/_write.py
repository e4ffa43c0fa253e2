"""Writing: from jaxprs to text."""

from __future__ import annotations

import base64
import itertools
import json
import string
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from bindax_core.errors import JaxprTextError, TreeError, clause
from bindax_core.extend import (
    Array,
    ClosedJaxpr,
    Distribution,
    ExtendedDType,
    JaxprEqn,
    Literal,
    Primitive,
    PyTreeDef,
    ShapedArray,
    Site,
    SourceInfo,
    Transformation,
    Var,
    describe_function,
    distribution_of,
    dtype_name,
    find_value_type,
    is_extended,
    provenance_of,
)
from bindax_core.sharding import AbstractMesh
from bindax_text._checksum import with_checksum
from bindax_text._forms import form_of
from bindax_text._numbers import HEADER, RESERVED, find_dtype, payload, shortest
from bindax_text._placed_types import (
    is_short,
    mesh_of,
    mesh_text,
    placed_fields,
    sets_text,
    sizes_text,
)
from bindax_text._tokens import QUALIFIED
from bindax_text._treedefs import write_treedef

_MAX_DEPTH = 50


def _names() -> Iterator[str]:
    """Names of variables: a, b, ..., z, aa, ab, ..."""
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            name = "".join(letters)
            if name not in RESERVED:
                yield name


class Writer:
    """Writes one jaxpr, with what it needs: the arrays, the jaxprs among its parameters."""

    def __init__(self, *, source_info: bool = False) -> None:
        self._source_info = source_info
        self._used: dict[str, Distribution] = {}
        self._arrays: list[str] = []
        self._programs: list[str] = []
        self._mesh: AbstractMesh | None = None  # that of the program that is being written
        # What has a mark already, by its identity; the values are kept so that it stays theirs.
        self._marks: dict[int, tuple[str, Any]] = {}

    def text(self, closed: Any) -> str:
        """Write a jaxpr."""
        if not isinstance(closed, ClosedJaxpr):
            raise JaxprTextError(
                f"jaxpr_to_text: only a ClosedJaxpr can be written as text, got a "
                f"{_class_name(type(closed))}. make_jaxpr(f)(*args) gives one."
            )
        self._program(closed)
        uses = [f"uses {self._used[name].label}\n" for name in sorted(self._used)]
        arrays = ["\n", *self._arrays] if self._arrays else []
        return HEADER + with_checksum("".join([*uses, *arrays, *self._programs]))

    # ------------------------------------------------------------------------------ programs

    def _program(self, closed: ClosedJaxpr) -> str:
        """The mark of a jaxpr, which is written at its first use."""
        if id(closed) in self._marks:
            return self._marks[id(closed)][0]
        outer, self._mesh = self._mesh, mesh_of(closed.jaxpr)
        try:
            return self._defined(closed)
        finally:
            self._mesh = outer

    def _defined(self, closed: ClosedJaxpr) -> str:
        jaxpr = closed.jaxpr
        fresh = _names()
        names: dict[Var, str] = {}

        def binder(v: Var) -> str:
            if v in names:
                raise JaxprTextError(f"the variable {names[v]} is bound twice.")
            names[v] = next(fresh)
            return f"{names[v]}:{self._type(v.aval)}"

        def atom(x: Any) -> str:
            if isinstance(x, Literal):
                return self._operand(x.val)
            if x not in names:
                raise JaxprTextError(f"a variable of type {x.aval.str_short()} is not bound.")
            return names[x]

        consts = zip(jaxpr.constvars, closed.consts, strict=True)
        binders = [f"{binder(v)} = {self._operand(x)}" for v, x in consts]
        binders += [binder(v) for v in jaxpr.invars]
        lines = [self._equation(eqn, binder, atom) for eqn in jaxpr.eqns]
        mark = f"@{len(self._programs)}"
        outs = ", ".join(map(atom, jaxpr.outvars))
        on = "" if self._mesh is None else f"{mesh_text(self._mesh)} "
        head = f"\nprogram {mark} {on}({', '.join(binders)})\n"
        self._programs.append("".join([head, *lines, f"  return ({outs})\n"]))
        self._marks[id(closed)] = mark, closed
        return mark

    def _equation(
        self, eqn: JaxprEqn, binder: Callable[[Var], str], atom: Callable[[Any], str]
    ) -> str:
        try:
            name = self._primitive(eqn.primitive)
            operands = ", ".join(map(atom, eqn.invars))
            params = ", ".join(self._param(name, *item) for item in eqn.params.items())
            outs = ", ".join(map(binder, eqn.outvars))
        except JaxprTextError as error:
            if eqn.source_info is not None:
                error.add_note(f"The equation is from {eqn.source_info}.")
            raise
        source = eqn.source_info if self._source_info else None
        origin = "" if source is None else f" from {_origin(source)}"
        return f"  {outs} = {name}{f'[{params}]' if params else ''} ({operands}){origin}\n"

    def _param(self, primitive: str, name: str, value: Any) -> str:
        try:
            return f"{name}={self._value(value)}"
        except JaxprTextError as error:
            raise JaxprTextError(f"{primitive}, parameter {name!r}: {error}") from error.__cause__

    # ----------------------------------------------------------------------- types, operands

    def _type(self, aval: Any) -> str:
        if type(aval) is not ShapedArray:
            return self._of_form(aval, 0)
        short = is_short(aval, self._mesh)
        sizes = sizes_text(aval) if short else ",".join(map(str, aval.shape))
        more = sets_text(aval) if short else placed_fields(aval, self._value)
        return f"{_dtype(aval.dtype)}[{sizes}]{'~' if aval.weak_type else ''}{more}"

    def _operand(self, x: Any) -> str:
        """A constant or literal."""
        if isinstance(x, Array):
            return self._scalar_or_array(x.numpy(), x.aval, x)
        value_type = find_value_type(type(x))
        if value_type is not None and value_type.to_numpy is not None and form_of(type(x)) is None:
            aval = value_type.typeof(x)
            if type(aval) is ShapedArray:
                return self._scalar_or_array(value_type.to_numpy(x, aval), aval, x)
        return self._of_form(x, 0)

    def _scalar_or_array(self, host: np.ndarray[Any, Any], aval: ShapedArray, owner: Any) -> str:
        scalar = _scalar(host) if aval.shape == () else None
        return f"{scalar}:{self._type(aval)}" if scalar else self._array(host, aval, owner)

    def _array(self, host: np.ndarray[Any, Any], aval: ShapedArray, owner: Any) -> str:
        """The mark of an array, which is written at its first use."""
        if id(owner) not in self._marks:
            mark = f"#{len(self._arrays)}"
            encoded = base64.b64encode(payload(host)).decode()
            outer, self._mesh = self._mesh, None  # arrays stand before all programs
            self._arrays.append(f'array {mark} {self._type(aval)} "{encoded}"\n')
            self._mesh = outer
            self._marks[id(owner)] = mark, owner
        return self._marks[id(owner)][0]

    # ---------------------------------------------------------------------------- parameters

    def _value(self, x: Any, depth: int = 0) -> str:
        """The text of a parameter, or of something in one."""
        if depth > _MAX_DEPTH:
            raise JaxprTextError(f"it is nested more than {_MAX_DEPTH} levels deep.")
        write = _WRITERS.get(type(x))
        if write is not None:
            return write(self, x, depth + 1)
        if isinstance(x, np.dtype):
            return f"dtype({_dtype(x)})"
        if isinstance(x, np.generic | np.ndarray) and form_of(type(x)) is None:
            return self._numpy(x)
        return self._of_form(x, depth + 1)

    def _items(self, items: Iterable[Any], depth: int) -> str:
        return ", ".join([self._value(x, depth) for x in items])

    def _dict(self, x: dict[Any, Any], depth: int) -> str:
        pairs = [f"{self._value(k, depth)}={self._value(v, depth)}" for k, v in x.items()]
        return "{" + ", ".join(pairs) + "}"

    def _frozenset(self, x: frozenset[Any], depth: int) -> str:
        # Sorted by what is written, so that the text does not depend on the hash seed.
        return f"frozenset({', '.join(sorted(self._value(one, depth) for one in x))})"

    def _numpy(self, x: Any) -> str:
        aval = ShapedArray(x.shape, x.dtype)
        if isinstance(x, np.generic):
            return _call("numpy", self._scalar_or_array(np.asarray(x), aval, x))
        return _call("ndarray", self._array(x, aval, x))

    def _primitive(self, primitive: Primitive) -> str:
        what = f"the primitive {primitive.name!r}, declared in {provenance_of(primitive.site)},"
        return self._qualified(primitive.name, primitive.site, what)

    def _qualified(self, name: str, site: Site, what: str) -> str:
        owner = distribution_of(site.module)
        if owner is None:
            raise JaxprTextError(
                f"{what} belongs to no installed distribution, by which a text could name it. "
                f"Install the package that declares it."
            )
        qualified = f"{owner.name}/{name}"
        if QUALIFIED.fullmatch(qualified) is None:
            raise JaxprTextError(f"{what} has a name with characters that texts cannot hold.")
        self._used[owner.name] = owner
        return qualified

    def _of_form(self, x: Any, depth: int) -> str:
        """The text of an instance of a class that has a form."""
        form = form_of(type(x))
        if form is None:
            raise JaxprTextError(_no_form(x))
        kind = _class_name(type(x))
        name = self._qualified(form.name, form.site, f"the text form of {kind}")
        try:
            fields = form.write(x)
            written = [f"{key}={self._value(value, depth)}" for key, value in fields.items()]
        except JaxprTextError as error:
            raise JaxprTextError(f"in a {kind}: {error}") from error.__cause__
        except Exception as error:  # write is foreign code
            raise JaxprTextError(f"the text form of {kind} raised {error!r}.") from error
        return f"{name}({', '.join(written)})"


def _class_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _no_form(x: Any) -> str:
    if isinstance(x, type) or (callable(x) and hasattr(x, "__name__")):
        return f"a text has no Python code, such as {describe_function(x)}."
    return (
        f"a {_class_name(type(x))} has no text form. If it holds Python code, such as a custom "
        f"rule, it cannot have one; otherwise the package that defines the class can give it one "
        f"with bindax_core.extend.register_text_form."
    )


def _origin(source: SourceInfo) -> str:
    """The line of an equation and its stack of names, in which transformations are not quoted."""
    stack = [x if isinstance(x, Transformation) else json.dumps(x) for x in source.stack]
    line = json.dumps(source.file), str(source.line), json.dumps(source.function)
    return f"({', '.join((*line, *stack))})"


def _dtype(dtype: np.dtype[Any]) -> str:
    if is_extended(dtype):
        element = dtype[0]
        sizes = ",".join(map(str, element.shape))
        name = json.dumps(dtype.names[0])  # type: ignore[index]
        return _call("extended", name, f"{_dtype(element.base)}[{sizes}]")
    name = dtype_name(dtype)
    if find_dtype(name) != dtype:
        raise JaxprTextError(f"the dtype {dtype!r} has no text form.")
    return name


def _scalar(host: np.ndarray[Any, Any]) -> str | None:
    """A number as text, or None where no text gives back its bits."""
    number = shortest(host)
    if isinstance(number, complex):
        return _complex(number)
    return None if number is None else repr(number)


def _int(x: int) -> str:
    try:
        return repr(x)
    except ValueError as error:
        raise JaxprTextError(f"an integer is too long: {clause(error)}.") from error


def _complex(x: complex) -> str:
    return _call("complex", repr(x.real), repr(x.imag))


def _treedef(x: PyTreeDef) -> str:
    try:
        return _call("treedef", json.dumps(write_treedef(x)))
    except TreeError as error:
        raise JaxprTextError(str(error)) from error


def _call(name: str, *args: str) -> str:
    return f"{name}({', '.join(args)})"


_WRITERS: dict[type, Callable[[Writer, Any, int], str]] = {
    type(None): lambda w, x, depth: "None",
    type(Ellipsis): lambda w, x, depth: "Ellipsis",
    bool: lambda w, x, depth: repr(x),
    int: lambda w, x, depth: _int(x),
    float: lambda w, x, depth: repr(x),
    complex: lambda w, x, depth: _complex(x),
    str: lambda w, x, depth: json.dumps(x),
    bytes: lambda w, x, depth: _call("bytes", json.dumps(x.hex())),
    tuple: lambda w, x, depth: f"({w._items(x, depth)}{',' if len(x) == 1 else ''})",
    list: lambda w, x, depth: f"[{w._items(x, depth)}]",
    dict: Writer._dict,
    frozenset: Writer._frozenset,
    slice: lambda w, x, depth: _call("slice", w._items((x.start, x.stop, x.step), depth)),
    ExtendedDType: lambda w, x, depth: _dtype(x.dtype),
    ShapedArray: lambda w, x, depth: _call("type", w._type(x)),
    Array: lambda w, x, depth: w._operand(x),
    ClosedJaxpr: lambda w, x, depth: w._program(x),
    Primitive: lambda w, x, depth: _call("primitive", w._primitive(x)),
    PyTreeDef: lambda w, x, depth: _treedef(x),
}
