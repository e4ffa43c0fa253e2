"""Mistakes in the text of functions that rules reach: wrong constants, operators, comparisons."""

from __future__ import annotations

import ast
import gc
import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import attrs

_SWAPPED: dict[Any, Any] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_SILENT = (ast.Raise, ast.JoinedStr, ast.arguments, ast.Assert)
"""Texts of errors and types of parameters, in which a mistake changes no result."""


@attrs.frozen
class Edit:
    """A change of one place in a function.

    Attributes:
        code: the function's code as it is.
        place: the number of the place among those of its file.
        line: where it is.
        what: the change, for reports.
    """

    code: CodeType
    place: int
    line: int
    what: str

    def __str__(self) -> str:
        file = Path(self.code.co_filename)
        return f"{'/'.join(file.parts[-2:])}:{self.line} in {self.code.co_qualname}: {self.what}"


def edits_of(codes: Sequence[CodeType]) -> list[Edit]:
    """All changes that can be made in some functions, in the order of files and lines."""
    files = sorted({code.co_filename for code in codes})
    return [edit for file in files for edit in _edits_in(file, set(codes))]


def _edits_in(file: str, codes: set[CodeType]) -> Iterator[Edit]:
    by_start = {(c.co_name, c.co_firstlineno): c for c in codes if c.co_filename == file}
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    for place, (owner, what, node, _) in enumerate(_places(tree)):
        code = None if owner is None else by_start.get(owner)
        if code is not None:
            yield Edit(code, place, getattr(node, "lineno", code.co_firstlineno), what)


def _places(
    node: ast.AST, owner: tuple[str, int] | None = None
) -> Iterator[tuple[tuple[str, int] | None, str, ast.AST, Callable[[], None]]]:
    """Places to change with the function they are in, and what makes the change in the tree."""
    if isinstance(node, _SILENT) or (isinstance(node, ast.Expr) and _is_text(node.value)):
        return
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        decorators = getattr(node, "decorator_list", ())
        first = min([node.lineno, *(d.lineno for d in decorators)])
        owner = (getattr(node, "name", "<lambda>"), first)
    for what, change in _changes(node):
        yield owner, what, node, change
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _places(child, owner)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _changes(node: Any) -> Iterator[tuple[str, Callable[[], None]]]:
    value: Any = getattr(node, "value", None)
    if isinstance(node, ast.Constant) and type(value) in (int, float, bool):
        wrong = not value if type(value) is bool else value + 1
        yield f"{value!r} becomes {wrong!r}", lambda: setattr(node, "value", wrong)
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in _SWAPPED:
        other = _SWAPPED[type(node.op)]
        yield (
            f"{type(node.op).__name__} becomes {other.__name__}",
            lambda: setattr(node, "op", other()),
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div, ast.FloorDiv)):
        yield "its operands change places", lambda: _exchange(node, "left", "right")
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPPED:
        turned = _SWAPPED[type(node.ops[0])]
        yield (
            f"{type(node.ops[0]).__name__} becomes {turned.__name__}",
            lambda: node.ops.__setitem__(0, turned()),
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not is left out twice", lambda: setattr(node, "operand", _negated(node.operand))
    if isinstance(node, ast.Call) and len(node.args) == 2 and not _starred(node):
        yield "two arguments change places", node.args.reverse


def _exchange(node: Any, first: str, second: str) -> None:
    x, y = getattr(node, first), getattr(node, second)
    setattr(node, first, y)
    setattr(node, second, x)


def _negated(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), node), node)


def _starred(node: ast.Call) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in node.args)


def changed_code(edit: Edit) -> CodeType | None:
    """The function's code with the change; None where it cannot take the place of the other."""
    file = edit.code.co_filename
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    for place, (_, _, _, change) in enumerate(_places(tree)):
        if place == edit.place:
            change()
            break
    module = compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)
    wanted = (edit.code.co_qualname, edit.code.co_firstlineno, edit.code.co_freevars)
    for code in _nested(module):
        if (code.co_qualname, code.co_firstlineno, code.co_freevars) == wanted:
            return code
    return None


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _nested(const)


@contextmanager
def in_force(edit: Edit, code: CodeType) -> Iterator[None]:
    """Give all functions that run some code another one, inside a ``with`` block."""
    functions = [f for f in gc.get_referrers(edit.code) if isinstance(f, FunctionType)]
    for function in functions:
        function.__code__ = code
    try:
        yield
    finally:
        for function in functions:
            function.__code__ = edit.code


@contextmanager
def reached(directory: str) -> Iterator[set[CodeType]]:
    """Collect the functions of a directory that are called inside a ``with`` block."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(directory):
            found.add(frame.f_code)

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)
        threading.setprofile(None)


def directory_of(module: str) -> str:
    """The directory of an importable package."""
    return str(Path(inspect.getfile(sys.modules[module.partition(".")[0]])).parent)
