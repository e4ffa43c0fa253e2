"""The example of each entry of the reference, with the imports that it needs to run as it stands.

An entry shows the examples of its own docstring. What has none is shown in use: by the shortest
example of another docstring in which the name occurs, those of its module first.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import reference
from reference import Entry

SHORTHANDS = {
    "np": "import numpy as np",
    "jnp": "import bindax.numpy as jnp",
    "nn": "from bindax import nn",
    "bindax": "import bindax",
    "sparse_linalg": "from bindax.scipy.sparse import linalg as sparse_linalg",
    **{
        module: f"from bindax.scipy import {module}"
        for module in ("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal")
    },
    **{module: f"from bindax.scipy import {module}" for module in ("special", "stats")},
    "vq": "from bindax.scipy.cluster import vq",
    "transform": "from bindax.scipy.spatial import transform",
    "image": "from bindax import image",
}
"""The modules that examples have under these names without a line that imports them."""
BOUND_BY = {
    "and_p": "bindax.lax.bitwise_and",
    "custom_jvp_call_p": "bindax.custom_jvp",
    "custom_vjp_call_p": "bindax.custom_vjp",
    "custom_vmap_call_p": "bindax.custom_batching.custom_vmap",
    "linear_call_p": "bindax.custom_derivatives.linear_call",
    "linear_solve_p": "bindax.lax.custom_linear_solve",
    "not_p": "bindax.lax.bitwise_not",
    "pvary_p": "bindax.lax.pcast",
    "or_p": "bindax.lax.bitwise_or",
    "platform_index_p": "bindax.lax.platform_dependent",
    "random_gamma_p": "bindax.random.gamma",
    "reduce_window_max_p": "bindax.lax.reduce_window",
    "reduce_window_min_p": "bindax.lax.reduce_window",
    "reduce_window_sum_p": "bindax.lax.reduce_window",
    "regularized_incomplete_beta_p": "bindax.lax.betainc",
    "shard_map_p": "bindax.shard_map",
    "sharding_constraint_p": "bindax.lax.with_sharding_constraint",
    "while_p": "bindax.lax.while_loop",
    "xor_p": "bindax.lax.bitwise_xor",
}
"""The functions that bind a primitive of another name."""
SHORT = 6
"""The length below which a word of a page may mean something else than the name."""
PROMPT = re.compile(r"^( *)(>>>|\.\.\.) ?(.*)$")


class Example(NamedTuple):
    """Lines of a session, and the entry whose docstring has them."""

    lines: tuple[str, ...]
    origin: str

    @property
    def code(self) -> str:
        """The statements without prompts and output."""
        return code_of(self.lines)


def code_of(lines: Iterable[str]) -> str:
    r"""Return the statements of a session.

    >>> code_of([">>> def f(x):", "...     return x", ">>> f(1)", "1"])
    'def f(x):\n    return x\nf(1)'
    """
    return "\n".join(match[3] for line in lines if (match := PROMPT.match(line)))


def sessions(text: str) -> list[tuple[str, ...]]:
    """Return the sessions of a docstring: from a prompt to the next blank line, unindented."""
    found: list[tuple[str, ...]] = []
    session: list[str] = []
    for line in [*inspect.cleandoc(text).splitlines(), ""]:
        if session and not line.strip():
            found.append(tuple(session))
            session = []
        elif session or line.lstrip().startswith(">>>"):
            indent = len(session[0]) - len(session[0].lstrip()) if session else 0
            session.append(line[indent:] if session else line.lstrip())
    return found


def own(value: Any) -> list[tuple[str, ...]]:
    """Return the sessions in the docstring of a value, and of the methods of a class."""
    if not (getattr(inspect.unwrap(value), "__module__", None) or "bindax").startswith("bindax"):
        return []  # NumPy's own, whose examples nobody here runs
    found = sessions(reference.docstring(value))
    if not found and inspect.isclass(value) and type(value).__module__.startswith("bindax"):
        return sessions(type(value).__doc__ or "")  # one of a family, such as the dtypes
    if not found and inspect.isclass(value) and value.__module__.startswith("bindax"):
        # Python 3.13 keeps the line of a class, a number, whose text is that of numbers.
        for method in vars(value).values():
            text = "" if isinstance(method, int) else getattr(method, "__doc__", None)
            found += sessions(text or "")
    return found


# ------------------------------------------------------------------------------- names in code


def used_names(code: str) -> set[str]:
    r"""Return the names that code reads and does not bind.

    >>> sorted(used_names("import numpy as np\ny = grad(lambda x: np.sin(x))(a)"))
    ['a', 'grad']
    """
    read: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(one.asname or one.name).partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return read - bound


@functools.cache
def mentioned(code: str) -> frozenset[str]:
    """Return the names that code reads, and those that it imports or takes from a module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(f".{node.attr}")
            if isinstance(node.value, ast.Name):
                found.add(f"{node.value.id}.{node.attr}")
            elif isinstance(node.value, ast.Attribute):
                found.add(f"{node.value.attr}.{node.attr}")
        elif isinstance(node, ast.ImportFrom):
            found |= {one.name for one in node.names}
    return frozenset(found)


# ------------------------------------------------------------------------------------- imports


def with_imports(entry: Entry, lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return a session that runs as it stands, with the modules that users import."""
    written = tuple(public_import(line) for line in lines)
    needed = used_names(code_of(written))
    imports = sorted({import_of(entry, name) for name in needed} - {""})
    plain = [line for line in imports if line.startswith("import")]
    grouped: dict[str, list[str]] = {}
    for line in imports:
        if line.startswith("from"):
            module, _, name = line.partition(" import ")
            grouped.setdefault(module, []).append(name)
    joined = [f"{module} import {', '.join(names)}" for module, names in sorted(grouped.items())]
    return (*(f">>> {line}" for line in (*plain, *joined)), *written)


def import_of(entry: Entry, name: str) -> str:
    """Return the import of a name that an example of an entry uses."""
    value = namespace(entry.value).get(name)
    if hasattr(builtins, name) and value is None and name != entry.name:
        return ""
    if name in SHORTHANDS and entry.module.endswith(f".{name}"):
        return SHORTHANDS[name]
    if f"{entry.module}.{name}" in reference.entries():
        return f"from {entry.module} import {name}"
    if isinstance(value, ModuleType):
        return import_of_module(value, name)
    path = reference.described_at().get(id(value)) if value is not None else None
    if path is not None:
        return import_line(path, name)
    if name in SHORTHANDS:
        return SHORTHANDS[name]
    module = getattr(value, "__module__", None)
    return f"from {module} import {name}" if module else ""


def import_of_module(module: ModuleType, name: str) -> str:
    """Return the import of a module under a name."""
    path = {source: path for path, source in reference.ALIASES.items()}.get(
        module.__name__, module.__name__
    )
    parent, _, last = path.rpartition(".")
    if not parent:
        return f"import {path}" + (f" as {name}" if name != path else "")
    return f"from {parent} import {last}" + (f" as {name}" if name != last else "")


def import_line(path: str, name: str) -> str:
    """Return the import of an entry under a name."""
    module, _, last = path.rpartition(".")
    return f"from {module} import {last}" + (f" as {name}" if name != last else "")


def namespace(value: Any) -> Mapping[str, Any]:
    """Return the globals of the module that defines a value."""
    unwrapped = inspect.unwrap(value) if callable(value) else value
    found = getattr(unwrapped, "__globals__", None)
    if found is None:
        name = getattr(unwrapped, "__module__", None) or type(unwrapped).__module__
        found = vars(importlib.import_module(name))
    return found


IMPORT = re.compile(r"^((?:>>>|\.\.\.) +)from (bindax_\w+(?:\.\w+)*) import (.+)$")


def public_import(line: str) -> str:
    """Return a line that imports from packages as one that imports what users do.

    >>> public_import(">>> from bindax_core import devices")
    '>>> from bindax import devices'
    """
    match = IMPORT.match(line)
    if match is None or match[2] in reference.modules():
        return line
    places: dict[str, list[str]] = {}
    for one in match[3].split(", "):
        name, _, alias = one.partition(" as ")
        path = reference.public_name(match[2], name)
        module, _, last = (path or f"{match[2]}.{name}").rpartition(".")
        shown = alias or name
        places.setdefault(module, []).append(last + (f" as {shown}" if shown != last else ""))
    joined = [f"from {module} import {', '.join(names)}" for module, names in places.items()]
    return match[1] + "; ".join(joined)


# ------------------------------------------------------------------------------ examples of use


@functools.cache
def every() -> list[Example]:
    """Return the examples of all docstrings, the short ones first."""
    found = [
        Example(with_imports(entry, lines), path)
        for path, entry in reference.entries().items()
        if entry.same is None
        for lines in own_of(entry)
    ]
    return sorted(found, key=lambda example: len("\n".join(example.lines)))


@functools.cache
def in_use() -> dict[str, list[Example]]:
    """Return the examples in which each name occurs."""
    found: dict[str, list[Example]] = {}
    for example in every():
        for name in mentioned(example.code):
            found.setdefault(name, []).append(example)
    return found


def own_of(entry: Entry) -> list[tuple[str, ...]]:
    """Return the sessions of an entry itself; those of a module are for all of its names."""
    if entry.kind == "module":
        return []
    return own(entry.value)


def borrowed(entry: Entry) -> Example | None:
    """Return the shortest example of another entry in which a name is in use."""
    if entry.kind == "primitive":
        path = BOUND_BY.get(entry.name, entry.path.removesuffix("_p"))
        function = reference.entries().get(path)
        if function is not None and own(function.value):
            return Example(with_imports(function, own(function.value)[0]), path)
    short = entry.module.rpartition(".")[2]
    spelt = {f"{short}.{entry.name}", *(["jnp." + entry.name] if short == "numpy" else [])}
    found = [example for name in spelt for example in in_use().get(name, [])]
    found += [one for one in in_use().get(entry.name, []) if resolves(one, entry)]
    if entry.kind == "constant":
        found = found or in_use().get(f".{entry.name}", [])
    same_module = [one for one in found if one.origin.startswith(f"{entry.module}.")]
    return next(iter(same_module or found), None) or of_family(entry)


def of_family(entry: Entry) -> Example | None:
    """Return an example in the docstring of the file that defines a name, or of a base class."""
    pattern = re.compile(rf"\b{re.escape(entry.name)}\b")
    for module in (reference.home(entry), entry.module, *homes(entry.module)):
        for lines in sessions(sys.modules[module].__doc__ or "") if module else ():
            if pattern.search("\n".join(lines)):
                return Example(with_imports(entry, lines), entry.module)
    for base in getattr(entry.value, "__mro__", (None,))[1:]:
        path = reference.described_at().get(id(base))
        if path is not None and sessions(base.__doc__ or ""):
            return Example(with_imports(reference.entries()[path], own(base)[0]), path)
    return None


@functools.cache
def homes(module: str) -> tuple[str, ...]:
    """Return the modules that define the names of a module."""
    return tuple(sorted({reference.home(entry) or module for entry in reference.of_module(module)}))


def resolves(example: Example, entry: Entry) -> bool:
    """Tell whether a bare name in an example is the entry, by the import that brings it."""
    tree = ast.parse(example.code)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                path = f"{node.module}.{one.name}"
                other = reference.entries().get(path)
                if path == entry.path or (other is not None and other.same == entry.path):
                    return True
    return False


def examples(entry: Entry) -> Iterator[Example]:
    """Yield what an entry shows: the examples of its own, or one of another's."""
    sessions_ = own_of(entry)
    for lines in sessions_:
        yield Example(with_imports(entry, lines), entry.path)
    if not sessions_:
        found = borrowed(entry)
        if found is not None:
            yield found


# ------------------------------------------------------------------------------ pages that use it

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of_pages() -> Iterator[tuple[str, str]]:
    """Yield the code of each page that has some, whose code the tests execute."""
    docs = reference.ROOT / "docs"
    for file in sorted(docs.rglob("*.md")):
        blocks = "\n".join(BLOCK.findall(file.read_text(encoding="utf-8")))
        if blocks:
            yield file.relative_to(docs).as_posix(), blocks


@functools.cache
def words_of_pages() -> dict[str, frozenset[str]]:
    """Return the words in the code of each page."""
    return {page: frozenset(re.findall(r"\w+", blocks)) for page, blocks in blocks_of_pages()}


FROM = re.compile(r"^(?:>>> )?from (bindax[\w.]*) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


@functools.cache
def imports_of_pages() -> dict[str, frozenset[str]]:
    """Return the names that the code of each page imports, after their modules."""
    return {
        page: frozenset(
            f"{module}.{name}"
            for module, *lists in FROM.findall(blocks)
            for name in re.findall(r"\w+", "".join(lists))
        )
        for page, blocks in blocks_of_pages()
    }


def pages(entry: Entry) -> list[str]:
    """Return the pages whose code imports a name or uses it, or that show an error of this name."""
    found = [page for page, names in imports_of_pages().items() if entry.path in names]
    if found or len(entry.name) < SHORT:
        return found
    return [page for page, words in words_of_pages().items() if entry.name in words]
