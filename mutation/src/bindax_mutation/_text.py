"""Mistakes in the text of functions that rules reach: wrong constants, operators, comparisons."""

from __future__ import annotations

import ast
import functools
import gc
import inspect
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import attrs

_PAIRS: list[tuple[Any, Any]] = [
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.BitAnd, ast.BitOr),
    (ast.And, ast.Or),
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
]
_SWAPPED = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}
_SWAPPED |= {ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv}
_SILENT = (ast.Raise, ast.JoinedStr, ast.arguments, ast.Assert)
"""Texts of errors and types of parameters, in which a mistake changes no result."""
_CHECKING = {"strict", "maxsize", "stacklevel", "copy", "takes_primitive"}
"""Keywords that say how strictly something is checked or what is kept, and not what results."""
_COMMUTATIVE = frozenset(
    {"add", "mul", "mulhi", "max", "min", "and", "or", "xor", "eq", "ne", "larger", "smaller"}
    | {"maximum", "minimum", "multiply", "add_tangents", "equal", "gcd", "lcm"}
    | {"bitwise_and", "bitwise_or", "logical_and", "logical_or"}
    | {"cast", "isinstance", "issubclass"}
)
"""Functions whose two arguments may change places, and those that only look at types."""


_REFUSING = "check", "require", "describe"
"""First words of the names of functions that raise errors or write their texts, and do no more."""


@attrs.frozen
class Edit:
    """A change of one place in a function, of which the code is given as it is."""

    code: CodeType
    place: int  # among those of its file
    line: int
    column: int  # from 1
    what: str

    def __str__(self) -> str:
        file = Path(self.code.co_filename)
        place = f"{'/'.join(file.parts[-2:])}:{self.line}:{self.column}"
        return f"{place} in {self.code.co_qualname}: {self.what}"


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
            line = getattr(node, "lineno", code.co_firstlineno)
            yield Edit(code, place, line, getattr(node, "col_offset", 0) + 1, what)


def _places(
    node: ast.AST, owner: tuple[str, int] | None = None
) -> Iterator[tuple[tuple[str, int] | None, str, ast.AST, Callable[[], None]]]:
    """Places to change with the function they are in, and what makes the change in the tree."""
    if isinstance(node, _SILENT) or (isinstance(node, ast.Expr) and _is_text(node.value)):
        return
    if isinstance(node, ast.keyword) and node.arg in _CHECKING:
        return
    if _refuses(node):
        return
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        decorators = getattr(node, "decorator_list", ())
        first = min([node.lineno, *(d.lineno for d in decorators)])
        name = getattr(node, "name", "<lambda>")
        if name.lstrip("_").startswith(_REFUSING):
            return
        owner = (name, first)
    for what, change in _changes(node):
        yield owner, what, node, change
    left_out = {"annotation", "returns", "decorator_list"}
    if isinstance(node, ast.If) and (
        isinstance(node.body[-1], ast.Raise) or all(map(_refuses, node.body))
    ):
        left_out.add("test")  # it decides upon an error alone
    for name, value in ast.iter_fields(node):
        if name in left_out:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _places(child, owner)


def _refuses(node: ast.AST) -> bool:
    """Tell whether a statement raises an error, or calls a function that may, and does no more."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        name = ast.unparse(node.value.func).rpartition(".")[2]
        return name.lstrip("_").startswith((*_REFUSING, "warn"))
    return isinstance(node, ast.Raise)


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
        yield "its operands change places", lambda: _exchange_operands(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPPED:
        turned = _SWAPPED[type(node.ops[0])]
        yield (
            f"{type(node.ops[0]).__name__} becomes {turned.__name__}",
            lambda: node.ops.__setitem__(0, turned()),
        )
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not is left out twice", lambda: setattr(node, "operand", _negated(node.operand))
    if isinstance(node, ast.Call) and len(node.args) == 2 and not _symmetric(node):
        yield "two arguments change places", node.args.reverse


def _exchange_operands(node: ast.BinOp) -> None:
    node.left, node.right = node.right, node.left


def _negated(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), node), node)


def _symmetric(node: ast.Call) -> bool:
    """Tell whether an exchange of two arguments changes nothing, or cannot be."""
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return True
    if ast.unparse(node.func) == "DebugInfo":
        return True  # words for messages
    words = ast.unparse(node.func).removesuffix(".bind").removesuffix("_p").split(".")
    first, second = map(ast.dump, node.args)
    return words[-1] in _COMMUTATIVE or first == second


def changed_codes(edit: Edit) -> Mapping[CodeType, CodeType]:
    """The code of each function that has the change in it, with what is to take its place.

    A function inside another is made anew at each call of the other, so that both are changed.
    """
    file = edit.code.co_filename
    source = Path(file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    before = _compiled(ast.parse(source), file)
    for place, (_, _, _, change) in enumerate(_places(tree)):
        if place == edit.place:
            change()
            break
    after = _compiled(ast.fix_missing_locations(tree), file)
    return {
        old: new
        for old, new in zip(_nested(before), _nested(after), strict=False)
        if old != new and _may_replace(new, old) and old.co_name != "<module>"
    }


def _compiled(tree: ast.Module, file: str) -> CodeType:
    return compile(tree, file, "exec", dont_inherit=True)


def _may_replace(new: CodeType, old: CodeType) -> bool:
    names = "co_qualname", "co_firstlineno", "co_freevars"
    return all(getattr(new, name) == getattr(old, name) for name in names)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _nested(const)


@contextmanager
def in_force(codes: Mapping[CodeType, CodeType], directory: str) -> Iterator[None]:
    """Give all functions that run some codes other ones, inside a ``with`` block.

    Before and after it, the functions of a directory forget what they remember.
    """
    objects = gc.get_objects()  # millions, which takes a while
    found = [f for f in objects if type(f) is FunctionType and f.__code__ in codes]
    changed = [(function, function.__code__) for function in found]
    for function, code in changed:
        function.__code__ = codes[code]
    forget_values(cached_functions(directory, objects))
    del objects
    try:
        yield
    finally:
        for function, code in changed:
            function.__code__ = code
        forget_values(cached_functions(directory, gc.get_objects()))


def cached_functions(directory: str, objects: Iterable[Any]) -> list[Any]:
    """Those of some objects that ``functools.cache`` made of functions of a directory."""
    cached = [one for one in objects if type(one) is functools._lru_cache_wrapper]
    return [one for one in cached if _file_of(inspect.unwrap(one)).startswith(directory)]


def _file_of(function: Any) -> str:
    code = getattr(function, "__code__", None)
    return "" if code is None else str(code.co_filename)


def forget_values(cached: Iterable[Any]) -> None:
    """Clear what functions remember that ``functools.cache`` made."""
    for one in cached:
        one.cache_clear()


@contextmanager
def watched(edit: Edit, codes: Mapping[CodeType, CodeType]) -> Iterator[list[int]]:
    """Collect runs of the line of a change inside a ``with`` block."""
    runs: list[int] = []
    firsts = {code.co_firstlineno for code in codes}

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and frame.f_lineno == edit.line:
            runs.append(edit.line)
            sys.settrace(before)  # it is slow
            return None
        return on_line

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        is_changed = code.co_firstlineno in firsts and code.co_filename == edit.code.co_filename
        return on_line if is_changed else None

    before = sys.gettrace()
    threading.settrace(on_call)
    sys.settrace(on_call)
    try:
        yield runs
    finally:
        sys.settrace(before)
        threading.settrace(before)


@contextmanager
def reached(directory: str, rules: Collection[CodeType]) -> Iterator[set[CodeType]]:
    """Collect the functions of a directory that rules call inside a ``with`` block.

    They are the rules, given by their codes, and what is called until these return.
    """
    found: set[CodeType] = set()
    local = threading.local()

    def note(frame: FrameType, event: str, _: Any) -> None:
        depth = getattr(local, "depth", 0)
        if event == "call" and (depth or frame.f_code in rules):
            local.depth = depth + 1
            if frame.f_code.co_filename.startswith(directory):
                found.add(frame.f_code)
        elif event == "return" and depth:
            local.depth = depth - 1

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
