"""The pages of the reference: an entry for each public name, grouped by the files that define them.

A page of `docs/reference` asks for the entries of a module by a line `<!-- names: MODULE -->`.
Those of a large module are on pages of their own, which the page that asks lists.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import reference
import reference_examples
import reference_text
import source_pages
from primitive_facts import fact_lines, families, family_of
from reference import Entry

LARGE = 180
"""The number of names from which on a module has several pages."""
FOLDER = "reference"
NAMES = re.compile(r"^<!-- names: ([\w.]+) -->$", re.MULTILINE)
OTHER = "other"
MODULES = "<!-- modules -->"
TITLES = {
    "bindax.lax.control_flow": "Control flow",
    "bindax.lax.parallel": "Collective operations",
    "bindax.lax.transforms": "Shardings",
    f"bindax.numpy.{OTHER}": "Constants and generic types",
    f"bindax.nnx.{OTHER}": "Constants, types and modules",
    f"bindax.lax.{OTHER}": "Types of arguments",
    f"bindax.extend.{OTHER}": "Constants and rule kinds",
}


def slug(module: str) -> str:
    """Return the name of the page of a module.

    >>> slug("bindax.scipy.stats.norm"), slug("bindax.numpy"), slug("bindax")
    ('scipy.stats.norm', 'numpy', 'bindax')
    """
    return module.removeprefix("bindax.")


# -------------------------------------------------------------------------------------- groups


def group_of(entry: Entry) -> str:
    """Return the part of its module that an entry belongs to, by the file that defines it."""
    home = reference.home(entry)
    if home is None:
        return OTHER
    package, *rest = home.split(".")
    if entry.module == "bindax.lax":
        inside = package in ("bindax_lax_basic", "bindax_special") and rest
        return lax_family(home) if inside else package.removeprefix("bindax_")
    return "_".join(part.strip("_") for part in rest) or package.removeprefix("bindax_")


def lax_family(home: str) -> str:
    """Return the family of operations that a module of arrays belongs to."""
    family = family_of(home)
    return family if family in families() else OTHER


@functools.cache
def groups(module: str) -> dict[str, list[Entry]]:
    """Return the entries of a module by group, in alphabetical order of the groups."""
    found: dict[str, list[Entry]] = {}
    for entry in reference.of_module(module):
        found.setdefault(group_of(entry), []).append(entry)
    return {group: found[group] for group in sorted(found, key=lambda one: (one == OTHER, one))}


def title_of(module: str, group: str) -> str:
    """Return the title of a group: the first sentence of the file that defines its names."""
    if f"{module}.{group}" in TITLES:
        return TITLES[f"{module}.{group}"]
    if module == "bindax.lax":
        return group.replace("_", " ").capitalize()
    homes = (reference.home(entry) for entry in groups(module)[group])
    home = next((one for one in homes if one is not None), None)
    text = inspect.getdoc(sys.modules[home]) or "" if home in sys.modules else ""
    sentence = reference_text.first_sentence(text).partition(":")[0].rstrip(".")
    return sentence or group.replace("_", " ").capitalize()


def is_large(module: str) -> bool:
    """Tell whether a module has several pages."""
    return len(reference.of_module(module)) >= LARGE


@functools.cache
def file_of(path: str) -> str:
    """Return the file of the page that has an entry."""
    entry = reference.entries()[path]
    if entry.module == "bindax.lax.linalg" or not is_large(entry.module):
        return page_of(entry.module)
    group = group_of(entry)
    folder = "lax" if entry.module == "bindax.lax" else f"{FOLDER}/{slug(entry.module)}"
    return f"{folder}/{group}.md"


@functools.cache
def requested() -> dict[str, str]:
    """Return the file of the page that asks for the names of each module."""
    found = {"bindax.lax": "lax/README.md", "bindax.lax.linalg": "lax/linalg.md"}
    for page in sorted((reference.ROOT / "docs" / FOLDER).glob("*.md")):
        for match in NAMES.finditer(page.read_text(encoding="utf-8")):
            found[match[1]] = f"{FOLDER}/{page.name}"
    return found


def page_of(module: str) -> str:
    """Return the file of the page that has the entries of a module, or lists them."""
    return requested()[module]


def shares_page(module: str) -> bool:
    """Tell whether the page of a module has other modules, too."""
    return list(requested().values()).count(page_of(module)) > 1


def link(path: str, page: str) -> str:
    """Return where an entry is, seen from a page."""
    ups = "../" * page.count("/")
    return f"{ups}{file_of(path)}#{anchor_of(path)}"


def anchor_of(path: str) -> str:
    """Return the anchor of an entry: its path, without what Markdown takes for bold text.

    >>> anchor_of("bindax.jit"), anchor_of("bindax.numpy.__array_api_version__")
    ('bindax.jit', 'bindax.numpy.-array_api_version-')
    """
    return path.replace("__", "-")


# -------------------------------------------------------------------------------------- entries


def signature(entry: Entry) -> str:
    """Return how a function or class is called, with types."""
    if entry.kind not in ("function", "class"):
        return ""
    value = entry.value
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    if entry.kind == "class":
        found = found.replace(return_annotation=inspect.Signature.empty)
        if issubclass(value, BaseException):
            return ""
    parameters = [tidy(one) for one in found.parameters.values()]
    text = f"{entry.path}{found.replace(parameters=parameters)}"
    text = re.sub(r"'([^'\n]*)'", unquoted, text)
    text = re.sub(r"<([\w.]+): [^>]*>", r"\1", text)  # the representation of an enum
    text = re.sub(
        r"<(?:function|class) '?([\w.]+)'?(?:\.<locals>[^>]*>?)?(?: at 0x\w+)?>", r"\1", text
    )
    return reference_text.public(wrapped(text) if len(text) > 88 else text)


def tidy(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter whose default is shown by its name where it is a function or a class."""
    default = parameter.default
    name = getattr(default, "__qualname__", None)
    if name is None or default is inspect.Parameter.empty:
        return parameter
    return parameter.replace(default=Shown(name.partition(".<locals>")[0]))


class Shown:
    """A default value that is shown as a name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def unquoted(match: re.Match[str]) -> str:
    """Return an annotation without quotes; strings that are defaults keep theirs."""
    before = match.string[: match.start()]
    return match[1] if before.endswith((": ", "-> ")) else match[0]


def wrapped(text: str) -> str:
    """Return a long signature with a parameter in each line."""
    name, _, rest = text.partition("(")
    inside, _, result = rest.rpartition(")")
    lines, depth, line = [], 0, ""
    for character in inside:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            lines.append(line.strip())
            line = ""
        else:
            line += character
    lines.append(line.strip())
    return "\n".join([f"{name}(", *(f"    {one}," for one in lines), f"){result}"])


def entry_lines(entry: Entry, page: str, level: int) -> Iterator[str]:
    """Yield the Markdown of an entry."""
    yield f"{'#' * level} `{entry.path}` {attributes(entry)}\n"
    if entry.kind == "module":
        yield from module_lines(entry, page)
        return
    if entry.same is not None:
        yield f"The same as [`{entry.same}`]({link(entry.same, page)}).\n"
        return
    if entry.kind == "primitive":
        yield from primitive_lines(entry, page)
    else:
        call = signature(entry)
        if call:
            yield f"```python\n{call}\n```\n"
        yield (description(entry) or constant(entry)) + "\n"
        if entry.kind == "class":
            yield from member_lines(entry)
    yield from example_lines(entry, page)
    yield from source_lines(entry, page)


def attributes(entry: Entry) -> str:
    """Return the attributes of an entry's heading: its anchor, and the name in the contents."""
    label = entry.name.replace("__", r"\_\_")
    return f"{{ #{anchor_of(entry.path)} data-toc-label='{label}' }}"


def description(entry: Entry) -> str:
    """Return the text of an entry's docstring; its first sentence where it is NumPy's own."""
    module = getattr(inspect.unwrap(entry.value), "__module__", None) or "bindax"
    if entry.kind in ("function", "class") and not module.startswith("bindax"):
        sentence = reference_text.first_sentence(reference.docstring(entry.value))
        return f"{sentence}\n\nIt is `{module}.{entry.value.__name__}` itself."
    return reference_text.markdown(reference.docstring(entry.value))


def constant(entry: Entry) -> str:
    """Return what kind of constant a value is."""
    if isinstance(entry.value, str | int | float | tuple | frozenset | type(None)):
        return f"The constant `{entry.value!r}`."
    if re.search(r" at 0x", repr(entry.value)):
        return f"An object of the type `{type(entry.value).__name__}`."
    return f"`{reference_text.public(repr(entry.value))}`"


def module_lines(entry: Entry, page: str) -> Iterator[str]:
    """Yield where the names of a module are."""
    text = reference_text.first_sentence(entry.value.__doc__ or "")
    place = requested().get(module_path(entry))
    where = f" [Its names]({'../' * page.count('/')}{place})" if place else ""
    yield f"Module. {text}{where}\n"


def module_path(entry: Entry) -> str:
    """Return the public module that an entry is, by the name that users import."""
    if entry.path in requested():
        return entry.path
    name: str = entry.value.__name__
    return {source: path for path, source in reference.ALIASES.items()}.get(name, name)


def member_lines(entry: Entry) -> Iterator[str]:
    """Yield the public methods and properties that a class defines, a sentence each."""
    rows = []
    for name, member in vars(entry.value).items():
        if name.startswith("_") or name in reference_text.markdown(entry.value.__doc__ or ""):
            continue
        function = getattr(member, "__func__", member)
        is_property = isinstance(member, property) or hasattr(member, "func")
        text = reference_text.first_sentence(getattr(member, "__doc__", None) or "")
        if text and (is_property or inspect.isroutine(function)):
            rows.append(f"- `{name}{'' if is_property else '()'}`: {text}")
    if rows:
        yield "**Methods and properties**\n\n" + "\n".join(rows) + "\n"


def primitive_lines(entry: Entry, page: str) -> Iterator[str]:
    """Yield the rules of a primitive, and what the conformance suite measured."""
    function = f"{entry.module}.{entry.name.removesuffix('_p')}"
    if function in reference.entries():
        yield f"The primitive of [`{function}`]({link(function, page)}).\n"
    yield "\n".join(fact_lines(entry.value.name)) + "\n"


def example_lines(entry: Entry, page: str) -> Iterator[str]:
    """Yield the examples of an entry, or the pages whose code uses it."""
    shown = list(reference_examples.examples(entry))
    if not shown:
        ups = "../" * page.count("/")
        titles = [f"[{name}]({ups}{name})" for name in reference_examples.pages(entry)]
        yield f"In use on {', '.join(titles)}.\n" if titles else ""
    for example in shown:
        if example.origin != entry.path:
            yield f"In use, from [`{example.origin}`]({link_of_origin(example.origin, page)}):\n"
        yield "\n".join(["```pycon", *example.lines, "```\n"])


def link_of_origin(path: str, page: str) -> str:
    """Return where the entry of a name is, or the page of a module, seen from a page."""
    if path in reference.entries():
        return link(path, page)
    return f"{'../' * page.count('/')}{page_of(path)}"


def source_lines(entry: Entry, page: str) -> Iterator[str]:
    """Yield the link to the source."""
    found = reference.source(entry)
    if found is not None:
        file, line = found
        ups = "../" * page.count("/")
        target = f"{ups}{source_pages.place(file)}#L-{line}"
        yield f"[Source: {file.name}, line {line}]({target}){{ .source }}\n"


# ---------------------------------------------------------------------------------------- pages


def with_names(markdown: str) -> str:
    """Return a text with the entries and the table of modules that it asks for."""
    listed = NAMES.sub(lambda match: listing(match[1]), markdown)
    return listed.replace(MODULES, module_table()) if MODULES in listed else listed


def listing(module: str) -> str:
    """Return what stands where a page asks for the names of a module."""
    page = page_of(module)
    if is_large(module):
        return "\n".join(index_lines(module, page))
    return "\n".join(group_lines(module, page))


def group_lines(module: str, page: str) -> Iterator[str]:
    """Yield all entries of a module: under its name beside others, or under its groups."""
    if shares_page(module):
        text = reference_text.first_sentence(sys.modules[module].__doc__ or "")
        yield f"## `{module}` {{ #{module} }}\n\n{text}\n"
        for entry in reference.of_module(module):
            yield from entry_lines(entry, page, 3)
        return
    several = len(groups(module)) > 1
    for group, found in groups(module).items():
        if several:
            yield f"## {title_of(module, group)}\n"
        for entry in found:
            yield from entry_lines(entry, page, 3 if several else 2)


def index_lines(module: str, page: str) -> Iterator[str]:
    """Yield the names of a large module with a sentence each, linked to their pages."""
    for group, found in groups(module).items():
        yield f"## {title_of(module, group)}\n"
        rows = ((f"[`{one.name}`]({link(one.path, page)})", sentence(one)) for one in found)
        yield "| name | purpose |\n|---|---|"
        yield "\n".join(f"| {name} | {text} |" for name, text in rows) + "\n"


def sentence(entry: Entry) -> str:
    """Return a sentence on an entry."""
    if entry.same is not None:
        return f"the same as `{entry.same}`"
    if entry.kind == "primitive":
        return f"the primitive `{entry.value.name}`"
    if entry.kind == "module":
        return "a module: " + reference_text.first_sentence(entry.value.__doc__ or "")
    return reference_text.first_sentence(reference.docstring(entry.value)) or "a constant"


def large_pages() -> dict[str, str]:
    """Return the pages of the groups of large modules, by file; those of `bindax.lax` apart."""
    return {
        file_of(found[0].path): "\n".join(page_lines(module, group, found))
        for module in reference.modules()
        if is_large(module) and module != "bindax.lax"
        for group, found in groups(module).items()
    }


def large_files() -> set[str]:
    """Return the files of these pages."""
    return {
        file_of(found[0].path)
        for module in reference.modules()
        if is_large(module) and module != "bindax.lax"
        for found in groups(module).values()
    }


def page_lines(module: str, group: str, found: Iterable[Entry]) -> Iterator[str]:
    """Yield the page of a group."""
    page = file_of(next(iter(found)).path)
    yield f"# {title_of(module, group)}\n"
    yield f"Part of [`{module}`](../../{page_of(module)}).\n"
    for entry in found:
        yield from entry_lines(entry, page, 2)


def module_rows() -> Iterator[tuple[str, Any]]:
    """Yield each public module with a sentence on it."""
    for module in reference.modules():
        text = sys.modules[module].__doc__ or ""
        yield module, reference_text.first_sentence(text)


def module_table() -> str:
    """Return the table of all public modules."""
    rows = [
        f"| [`{module}`](../{page_of(module)}) | {text} | {len(reference.of_module(module))} |"
        for module, text in module_rows()
    ]
    return "\n".join(["| module | purpose | names |", "|---|---|---|", *rows])
