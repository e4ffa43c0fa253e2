"""The public names of every front end: what the reference of the site has an entry for.

A name is listed under the module that users import it from, such as ``bindax.numpy.einsum``. An
object that several modules offer is described once, under the first of them; its other names are
entries that lead there.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any, NamedTuple

from bindax._aliases import ALIASES as ALIASES
from bindax_core.extend import Primitive

ROOT = Path(__file__).resolve().parent.parent
FIRST = (
    *("bindax", "bindax.numpy", "bindax.lax", "bindax.random", "bindax.nn", "bindax.nnx"),
    *("bindax.optimizers", "bindax.tree", "bindax.sharding", "bindax.errors"),
)
"""The modules under which a name is described that others offer, too."""
LAST = (
    *("bindax.extend", "bindax_testing", "bindax_testing.extend", "bindax_mutation"),
    *("bindax_transforms", "bindax_lax_basic.extend", "bindax_containers"),
)
"""The modules that authors of plugins import; most of their names are those of the others."""
COMMANDS = ("bindax.__main__", "bindax.jax")


class Entry(NamedTuple):
    """A public name, its value, and the entry that describes the value if it is another one."""

    module: str
    name: str
    value: Any
    same: str | None

    @property
    def path(self) -> str:
        """The name that users write, with its module."""
        return f"{self.module}.{self.name}"

    @property
    def kind(self) -> str:
        """The kind of the value: module, primitive, class, function or constant."""
        return kind_of(self.value)


def kind_of(value: Any) -> str:
    """Return the kind of a value.

    >>> import bindax
    >>> kind_of(bindax.grad), kind_of(bindax.lax), kind_of(bindax.find_primitive("sin"))
    ('function', 'module', 'primitive')
    """
    if isinstance(value, ModuleType):
        return "module"
    if isinstance(value, Primitive):
        return "primitive"
    if isinstance(value, GenericAlias):  # of types for annotations
        return "constant"
    if inspect.isclass(value):
        return "class"
    is_function = inspect.isroutine(value) or (callable(value) and "__doc__" in vars_of(value))
    return "function" if is_function else "constant"


def vars_of(value: Any) -> dict[str, Any]:
    """Return the attributes of a value itself, without those of its class."""
    return getattr(value, "__dict__", {})


def docstring(value: Any) -> str:
    """Return the docstring of a value, or of its class where that is of bindax."""
    if isinstance(value, Primitive | str | int | float | tuple | frozenset | ModuleType):
        return ""
    if inspect.isclass(value) or inspect.isroutine(value) or "__doc__" in vars_of(value):
        return value.__doc__ or ""
    help_of_setting = getattr(value, "help", None)
    if isinstance(help_of_setting, str):
        return help_of_setting
    return (type(value).__doc__ or "") if type(value).__module__.startswith("bindax") else ""


@functools.cache
def modules() -> tuple[str, ...]:
    """Return the public modules, those first under which names are described."""
    found = {"bindax", *ALIASES}
    for file in (ROOT / "src/bindax").rglob("*.py"):
        parts = file.relative_to(ROOT / "src").with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if not re.search(r"\._|\.demo", name) and name not in COMMANDS:
            found.add(name)
    inner = sorted(found - {*FIRST, *LAST})
    return (*FIRST, *inner, *LAST)


@functools.cache
def entries() -> dict[str, Entry]:
    """Return the entry of each public name, by the name with its module."""
    found: dict[str, Entry] = {}
    described: dict[int, str] = {}
    for module in modules():
        importlib.import_module(module)  # an attribute of its package from then on
    for module in modules():
        for name, value in values(module):
            path = f"{module}.{name}"
            same = described.setdefault(id(value), path) if has_identity(value) else path
            found[path] = Entry(module, name, value, None if same == path else same)
    return found


def values(module: str) -> Iterator[tuple[str, Any]]:
    """Yield the public names of a module with their values, those that are no aliases first."""
    offered = importlib.import_module(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [(name, getattr(offered, name)) for name in sorted(offered.__all__)]
    yield from sorted(found, key=lambda one: getattr(one[1], "__name__", one[0]) != one[0])


def has_identity(value: Any) -> bool:
    """Tell whether a value that has two names is one thing: functions, classes, primitives."""
    return kind_of(value) in ("function", "class", "primitive")


def of_module(module: str) -> list[Entry]:
    """Return the entries of a module, in alphabetical order."""
    found = [entry for entry in entries().values() if entry.module == module]
    return sorted(found, key=lambda entry: (entry.name.lower(), entry.name))


def home(entry: Entry) -> str | None:
    """Return the module of bindax that defines what an entry describes, if there is one."""
    value = entry.value
    if isinstance(value, Primitive):
        return module_of(value.site.file)
    if entry.kind == "module":
        return None
    unwrapped = inspect.unwrap(value) if callable(value) else type(value)
    name = getattr(unwrapped, "__module__", None) or ""
    return name if name.startswith("bindax") else None


def module_of(file: str) -> str | None:
    """Return the name of the module that is in a file of the repository."""
    parts = Path(file).with_suffix("").parts
    starts = [number for number, part in enumerate(parts) if part.startswith("bindax_")]
    return ".".join(part for part in parts[starts[0] :] if part != "__init__") if starts else None


def source(entry: Entry) -> tuple[Path, int] | None:
    """Return the file, relative to the repository, and the line that define a value."""
    value = entry.value
    if isinstance(value, Primitive):
        file, line = Path(value.site.file), value.site.line
    elif inspect.isfunction(inspect.unwrap(value)):
        code = inspect.unwrap(value).__code__
        file, line = Path(code.co_filename), code.co_firstlineno
    else:
        try:
            unwrapped = inspect.unwrap(value)
            file = Path(inspect.getsourcefile(unwrapped) or "")
            line = inspect.getsourcelines(unwrapped)[1] or 1
        except (OSError, TypeError):
            return None
    is_own = file.is_relative_to(ROOT) and "site-packages" not in file.parts  # as in .venv
    return (file.relative_to(ROOT), line) if is_own else None


def public_name(module: str, name: str) -> str | None:
    """Return the entry that describes what a module of any package calls so.

    >>> public_name("bindax_core", "devices"), public_name("bindax_control_flow", "scan")
    ('bindax.devices', 'bindax.lax.scan')
    """
    try:
        value = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None
    return described_at().get(id(value)) if has_identity(value) else None


@functools.cache
def described_at() -> dict[int, str]:
    """Return the entry of each described value by its identity."""
    return {id(one.value): path for path, one in entries().items() if one.same is None}
