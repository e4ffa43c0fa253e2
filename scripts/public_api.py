"""Write the record of what plugin API version 1 promises, and compare it with what is there.

The record is `tests/data/public_api_v1.json`: the public names of the doors, the hooks, the groups
of entry points, and how each function and method is called. Additions are free, and writing the
record again is what puts them under the promise; it is refused where something was taken back.

    uv run python scripts/public_api.py          # write the record again, with additions
    uv run python scripts/public_api.py --check  # compare only
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

API_VERSION = 1
ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / f"tests/data/public_api_v{API_VERSION}.json"
DOORS = (
    "bindax_core",
    "bindax_core.errors",
    "bindax_core.extend",
    "bindax_testing",
    "bindax_core.tree",
    "bindax_core.tree_util",
    "bindax_lax_basic.extend",
)

# ------------------------------------------------------------------------------ what is there


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a door offers: those of ``__all__``, or else the ones of its source.

    That is what it defines, or imports as ``name as name``; the namespace of a module also holds
    what it needs for itself.
    """
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    statements = ast.parse(inspect.getsource(module)).body
    found: set[str] = set()
    while statements:
        node = statements.pop()
        if isinstance(node, ast.If):  # imports for type checkers of what is imported late
            statements += node.body
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return sorted(name for name in found if not name.startswith("_"))


def signature_text(function: Any, *, bound: bool = False) -> str | None:
    """Return how something is called, without types; None where Python cannot tell.

    Args:
        function: a function or a class.
        bound: whether the first parameter is the instance, which callers do not pass.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())[bound:]
    except (TypeError, ValueError):
        return None
    plain = [
        parameter.replace(
            annotation=parameter.empty,
            default=parameter.empty
            if parameter.default is parameter.empty
            else _Default(parameter.default),
        )
        for parameter in parameters
    ]
    return str(inspect.Signature(plain))


class _Default:
    """A default value as the record shows it: as it is if it is a literal, else ``...``."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        try:
            ast.literal_eval(repr(self.value))
        except (SyntaxError, ValueError):
            return "..."
        return repr(self.value)


def describe_class(cls: type) -> dict[str, Any]:
    """Return how a class is called, its public methods, and its other public attributes."""
    methods: dict[str, str | None] = {}
    attributes: set[str] = set()
    for base in cls.__mro__:
        package = base.__module__.partition(".")[0]
        if not package.startswith("bindax"):
            continue
        attributes |= {name for name in base.__annotations__ if not name.startswith("_")}
        for name, value in vars(base).items():
            if name.startswith("_") and name != "__call__":
                continue
            function = getattr(value, "__func__", getattr(value, "fget", value))
            if getattr(function, "__module__", package).partition(".")[0] != package:
                continue  # an operator that a plugin brought
            if inspect.isfunction(value):
                methods.setdefault(name, signature_text(value, bound=True))
            elif isinstance(value, classmethod | staticmethod):
                methods.setdefault(name, signature_text(getattr(cls, name)))
            else:
                attributes.add(name)
    description: dict[str, Any] = {"kind": "class"}
    # Exceptions and protocols say nothing of their own about how they are called.
    if not (issubclass(cls, BaseException) or getattr(cls, "_is_protocol", False)):
        description["signature"] = signature_text(cls)
    if methods:
        description["methods"] = methods
    if attributes:
        description["attributes"] = sorted(attributes)
    return description


def describe(value: Any) -> dict[str, Any]:
    """Return the kind of a public value, and what can be said about how it is used."""
    if inspect.isclass(value):
        return describe_class(value)
    if inspect.isfunction(value):
        return {"kind": "function", "signature": signature_text(value)}
    if inspect.ismodule(value):
        return {"kind": "module"}
    cls = type(value)
    if cls.__module__.startswith("bindax"):
        return {"kind": f"instance of {cls.__name__}"}
    return {"kind": "value"}


def current_api() -> dict[str, Any]:
    """Return the public API of the installed packages, in the form of the record."""
    from bindax_core.registry import _hooks, _manifest

    supported = API_VERSION in _manifest.SUPPORTED_API_VERSIONS
    group = f"bindax.v{API_VERSION}"
    suffixes = [f".{kind}" for kind in _manifest.KINDS if kind != _manifest.PLUGINS]
    hooks = {name: value for name, value in vars(_hooks).items() if name.startswith("bindax_")}
    modules = {name: importlib.import_module(name) for name in DOORS}
    return {
        "api_version": API_VERSION,
        "entry_point_groups": [group, *(group + end for end in suffixes)] if supported else [],
        "hooks": {name: signature_text(function) for name, function in hooks.items()},
        "modules": {
            door: {name: describe(getattr(module, name)) for name in public_names(module)}
            for door, module in modules.items()
        },
    }


# ------------------------------------------------------------------------------- what changed


class Parameter(NamedTuple):
    """A parameter of a signature: its name, and whether callers may leave it out."""

    name: str
    optional: bool


class Parameters(NamedTuple):
    """The parameters of a signature, by how callers pass them.

    Attributes:
        positional: those passed by position, in order.
        unnamed: how many of these cannot be passed by name.
        keyword: those passed by name alone.
        rest: whether further positional arguments are taken.
        others: whether further keyword arguments are taken.
    """

    positional: list[Parameter]
    unnamed: int
    keyword: list[Parameter]
    rest: bool
    others: bool


def parse(text: str) -> Parameters:
    """Read a signature of the record."""
    (function,) = ast.parse(f"def function{text}: pass").body
    if not isinstance(function, ast.FunctionDef):
        raise ValueError(f"{text!r} is not a signature.")
    args = function.args
    named = [*args.posonlyargs, *args.args]
    required = len(named) - len(args.defaults)
    return Parameters(
        [Parameter(arg.arg, index >= required) for index, arg in enumerate(named)],
        len(args.posonlyargs),
        [
            Parameter(arg.arg, default is not None)
            for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        ],
        args.vararg is not None,
        args.kwarg is not None,
    )


def call_changes(old_text: str, new_text: str) -> Iterator[str]:
    """Yield why calls that an old signature allows fail, or mean something else, with a new one."""
    old, new = parse(old_text), parse(new_text)
    by_name = {one.name: one for one in [*new.positional[new.unnamed :], *new.keyword]}
    for index, one in enumerate(old.positional):
        there = new.positional[index] if index < len(new.positional) else None
        if index < old.unnamed:
            if there is None and not new.rest:
                yield f"parameter {index + 1} ({one.name!r}) was removed"
            elif there is not None and one.optional and not there.optional:
                yield f"parameter {index + 1} ({one.name!r}) lost its default"
        elif one.name not in by_name:
            yield f"parameter {one.name!r} was removed, or cannot be passed by name any more"
        elif there is None or there.name != one.name:
            yield f"parameter {one.name!r} is not the positional parameter {index + 1} any more"
    for one in old.keyword:
        if one.name not in by_name and not new.others:
            yield f"parameter {one.name!r} was removed, or cannot be passed by name any more"
    known = {one.name: one for one in [*old.positional[old.unnamed :], *old.keyword]}
    for one in [*new.positional[len(old.positional) :], *new.keyword]:
        if one.name not in known and not one.optional:
            yield f"the new parameter {one.name!r} has no default"
    for name, one in known.items():
        if one.optional and name in by_name and not by_name[name].optional:
            yield f"parameter {name!r} lost its default"
    if old.rest and (not new.rest or len(new.positional) > len(old.positional)):
        yield "further positional arguments are not taken as such any more"
    if old.others and not new.others:
        yield "further keyword arguments are not taken any more"


def signature_changes(where: str, old: str | None, new: str | None) -> Iterator[str]:
    """Yield what changed incompatibly in how something is called."""
    if old is not None and new is not None and old != new:
        for reason in call_changes(old, new):
            yield f"{where}: {reason}; was {old}, is {new}"


def value_changes(where: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """Yield what changed incompatibly in one public value."""
    if old["kind"] != new["kind"]:
        yield f"{where}: the kind was {old['kind']!r}, and is {new['kind']!r}"
        return
    yield from signature_changes(where, old.get("signature"), new.get("signature"))
    methods = new.get("methods", {})
    for name, text in old.get("methods", {}).items():
        if name not in methods:
            yield f"{where}.{name}: the method disappeared"
        else:
            yield from signature_changes(f"{where}.{name}", text, methods[name])
    attributes = {*new.get("attributes", ()), *methods}
    for name in old.get("attributes", ()):
        if name not in attributes:
            yield f"{where}.{name}: the attribute disappeared"


def changes(record: dict[str, Any], current: dict[str, Any]) -> list[str]:
    """Return what a record promises and the current API does not keep; additions are no change."""
    found = [
        f"{group}: the group of entry points is not read any more"
        for group in record["entry_point_groups"]
        if group not in current["entry_point_groups"]
    ]
    for name, text in record["hooks"].items():
        if name not in current["hooks"]:
            found.append(f"{name}: the hook disappeared")
        elif text != current["hooks"][name]:
            found += signature_changes(name, text, current["hooks"][name])
    for door, names in record["modules"].items():
        there = current["modules"].get(door, {})
        for name, old in names.items():
            if name in there:
                found += value_changes(f"{door}.{name}", old, there[name])
            else:
                found.append(f"{door}.{name}: the name disappeared")
    return found


def message(found: list[str]) -> str:
    """Return the text for people who took something back."""
    lines = "\n".join(f"  {change}" for change in found)
    return (
        f"Plugin API version {API_VERSION} is kept compatible, but this breaks plugins:\n{lines}\n"
        f"Keep the old name or call working (an alias, a default), or introduce plugin API version "
        f"{API_VERSION + 1} beside it: a version of its own in SUPPORTED_API_VERSIONS, its own "
        f"groups of entry points, and its own record. The record of version {API_VERSION} stays "
        f"as it is."
    )


def main(arguments: list[str]) -> int:
    """Compare, and write the record unless told to check only; return the exit status."""
    current = current_api()
    if RECORD.exists():
        found = changes(json.loads(RECORD.read_text(encoding="utf-8")), current)
        if found:
            print(message(found), file=sys.stderr)
            return 1
    if "--check" not in arguments:
        text = json.dumps(current, indent=1, sort_keys=True, ensure_ascii=False)
        RECORD.write_text(text + "\n", encoding="utf-8")
        print(f"wrote {RECORD.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
