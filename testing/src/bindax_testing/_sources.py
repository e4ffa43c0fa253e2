"""Definitions as a program has them: how another process makes a function or a primitive.

What stands in a module is imported. What stands in a script, at a prompt or in a notebook is
written down again: the statements that define it, and those that define what they need.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

_CELL = re.compile(
    r"<(ipython-input|python-input|stdin)-?\S*>|.*[/\\\\]ipykernel_\d+[/\\\\]\d+\.py"
)


def importable(file: Path) -> tuple[Path, str]:
    """A directory for ``sys.path``, and the name by which a file is imported from there."""
    wanted = str(file)
    for name, module in list(sys.modules.items()):
        if name != "__main__" and getattr(module, "__file__", None) == wanted:
            parts = name.split(".")
            tail = [*parts[:-1], file.stem] if file.stem != "__init__" else parts
            place = file if file.stem != "__init__" else file.parent
            if tail == parts and list(place.with_suffix("").parts[-len(parts) :]) == parts:
                return place.parents[len(parts) - 1], name
    return file.parent, file.stem


def import_of(value: Any) -> tuple[str, str] | None:
    """The lines that import a value in another process, and its expression; None if none do."""
    for module in _modules_of(value):
        found = _name_in(module, value)
        if found is None:
            continue
        file = getattr(module, "__file__", None)
        if file is None:
            return f"import {module.__name__}\n", f"{module.__name__}.{found}"
        root, name = importable(Path(file))
        if not all(part.isidentifier() for part in name.split(".")):
            continue
        head, _, rest = found.partition(".")
        lines = f"sys.path.insert(0, {str(root)!r})\nfrom {name} import {head}\n"
        return lines, found if rest else head
    return None


def _modules_of(value: Any) -> Iterator[ModuleType]:
    """The modules that may have a value, but for the one that was run."""
    names = [getattr(value, "__module__", None), type(value).__module__]
    names += [one.f_globals.get("__name__") for one, _ in traceback.walk_stack(None)]
    for name in dict.fromkeys(names):
        module = sys.modules.get(name) if isinstance(name, str) else None
        if module is not None and name != "__main__":
            yield module


def _name_in(module: ModuleType, value: Any) -> str | None:
    """The name of a value in a module."""
    name = getattr(value, "__qualname__", None)
    found: Any = module
    for part in name.split(".") if isinstance(name, str) else ():
        found = getattr(found, part, None)
    if isinstance(name, str) and found is value:
        return name
    return next((key for key, one in list(vars(module).items()) if one is value), None)


def definition_of(value: Any) -> tuple[str, str] | None:
    """The statements of the program that was run which define a value, and its name.

    None where it has no name there, or the text of the program is not to be had.
    """
    main = sys.modules.get("__main__")
    if main is None:
        return None
    name = _name_in(main, value)
    texts = dict(_texts(main))
    statements = list(_statements(texts.values()))
    # A loop runs the checks again, and its variable has another value in the end.
    lasting = [node for node in statements if not isinstance(node, ast.For | ast.While)]
    if name is not None and name.isidentifier() and any(name in _bound(one) for one in lasting):
        return _joined(_needed(statements, {name})), name
    made = _lambda_of(value, texts)
    if made is None:
        return None
    name = "function"
    assignment = ast.parse(f"{name} = {ast.unparse(made)}").body
    return _joined([*_needed(lasting, _names(made)), *assignment]), name


def _joined(statements: Iterable[ast.stmt]) -> str:
    return "\n".join(ast.unparse(node) for node in statements) + "\n"


def _lambda_of(value: Any, texts: Mapping[str, str]) -> ast.Lambda | None:
    """The expression of a function without a name; None where it needs variables of another."""
    code = getattr(value, "__code__", None)
    if code is None or code.co_name != "<lambda>" or code.co_freevars:
        return None
    if code.co_filename not in texts or value.__defaults__ or value.__kwdefaults__:
        return None  # the values of defaults are not in the text
    places = [(one[0], one[2]) for one in code.co_positions() if one[2] is not None and one[3]]
    start = min(places, default=None)
    lambdas = (x for x in ast.walk(ast.parse(texts[code.co_filename])) if isinstance(x, ast.Lambda))
    return next((x for x in lambdas if (x.body.lineno, x.body.col_offset) == start), None)


def _texts(main: Any) -> Iterator[tuple[str, str]]:
    """The texts of the program that was run, with their names for Python.

    They are that of its file, of cells, or of the command line.
    """
    file = getattr(main, "__file__", None)
    if file is not None and Path(file).is_file():
        yield file, Path(file).read_text(encoding="utf-8")
        return
    for name in sorted(linecache.cache, key=_number):
        if _CELL.fullmatch(name):
            yield name, "".join(linecache.getlines(name))
    if "-c" in sys.orig_argv[:-1]:
        yield "<string>", sys.orig_argv[sys.orig_argv.index("-c") + 1]


def _number(name: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", name)]


def _statements(texts: Iterable[str]) -> Iterator[ast.stmt]:
    """The statements outside of functions, also those of blocks that only a script runs."""
    for text in texts:
        try:
            body = ast.parse(text).body
        except SyntaxError:  # magic commands of a notebook
            continue
        for node in body:
            yield from node.body if isinstance(node, ast.If) else [node]


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement gives a value to."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(one.asname or one.name).partition(".")[0] for one in node.names}
    return {
        x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)
    }


def _changed(node: ast.stmt) -> set[str]:
    """The names whose values a statement completes, as ``f.defvjp(...)`` or ``f[0] = ...`` does."""
    calls: list[ast.expr] = []
    if isinstance(node, ast.FunctionDef):
        calls = list(node.decorator_list)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        calls = [node.value.func]
    elif isinstance(node, ast.Assign):
        parts = (ast.Attribute, ast.Subscript)
        return {
            x.value.id
            for x in node.targets
            if isinstance(x, parts) and isinstance(x.value, ast.Name)
        }
    found = set()
    for call in calls:
        inner = call.func if isinstance(call, ast.Call) else call
        while isinstance(inner, ast.Attribute):
            inner = inner.value
            if isinstance(inner, ast.Name):
                found.add(inner.id)
    return found


def _registers(node: ast.stmt) -> bool:
    """Tell whether a statement registers something under a name that is no variable."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    function = node.value.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name.startswith("register")


def _names(node: ast.AST) -> set[str]:
    """The names whose values are read."""
    return {x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}


def _needed(statements: list[ast.stmt], names: set[str]) -> list[ast.stmt]:
    """The statements that names need, in order; of several that bind one, all."""
    wanted, kept = set(names), set[int]()
    grew = True
    while grew:
        grew = False
        for i, node in enumerate(statements):
            if i in kept:
                continue
            modules = {x for one in statements for x in _bound(one) if isinstance(one, ast.Import)}
            concerns = (_bound(node) | (_changed(node) - modules)) & wanted
            if concerns or _registers(node):
                kept.add(i)
                wanted |= _names(node)
                grew = True
    return [statements[i] for i in sorted(kept)]
