"""`bindax new-plugin NAME`: write a package that extends bindax and passes its own tests."""

from __future__ import annotations

import importlib.util
import json
import keyword
import re
import sys
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import NamedTuple

import click

from bindax._cli._output import example, json_option, print_json
from bindax_core.errors import clause

TEMPLATES = Path(__file__).parent / "templates"
_LONGEST = 100
_SUFFIX = ".template"
# Name of a distribution as PEP 508 has it.
_DISTRIBUTION = re.compile(r"[A-Z0-9]|[A-Z0-9][A-Z0-9._-]*[A-Z0-9]", re.IGNORECASE | re.ASCII)
_AUTHOR = re.compile(r"(?P<name>[^<>]*?)\s*(?:<(?P<email>[^<>@\s]+@[^<>@\s]+)>)?")


class _Names(NamedTuple):
    """The names of the new package."""

    name: str  # of the distribution
    module: str
    plugin: str  # the entry point, which is also the prefix of the primitive's name


@click.command(name="new-plugin", epilog=example("bindax new-plugin bindax-mine"))
@click.argument("name")
@click.option(
    "--directory",
    type=click.Path(path_type=Path),
    help="The directory to make; NAME in the working directory when it is not given.",
)
@click.option("--container-only", is_flag=True, help="Leave the primitive out.")
@click.option(
    "--author",
    "authors",
    multiple=True,
    metavar="'NAME <EMAIL>'",
    help="Who writes it; may be repeated.",
)
@json_option
def new_plugin(
    name: str,
    directory: Path | None,
    container_only: bool,
    authors: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write a package NAME that extends bindax by a primitive and a container.

    It has a manifest, hooks, tests with the conformance suite, a README and a workflow that runs
    the tests, and passes them as it is.
    """
    # Of a package that was written before, the place says more than its name, so it comes first.
    target = Path(name) if directory is None else directory
    is_name = len(name) <= _LONGEST and _DISTRIBUTION.fullmatch(name)
    if is_name and (target.exists() or target.is_symlink()):
        raise click.BadParameter(
            f"{target} exists already, and nothing in it was changed. Choose a directory that does "
            f"not exist, or remove this one first.",
            param_hint="--directory",
        )
    names = _names(name)
    release = [int(part) for part in version("bindax-core").split(".")[:2]]
    values = names._asdict() | {
        "authors": _authors(authors),
        "versions": f">={release[0]}.{release[1]},<{release[0]}.{release[1] + 1}",
    }
    written = _render("container" if container_only else "primitive", names.module, values)
    _write(target, written)
    if as_json:
        files = sorted(path.as_posix() for path in written)
        print_json({"directory": str(target), "module": names.module, "files": files})
        return
    click.echo(f"Wrote {len(written)} files to {target}. To run its tests:\n")
    click.echo(f"  cd {target}")
    click.echo("  python -m pip install --editable . --group dev   # pip 25.1 or later")
    click.echo("  python -m pytest")


def _names(name: str) -> _Names:
    """Check a distribution's name, and derive the others from it."""
    if not _DISTRIBUTION.fullmatch(name):
        raise _bad_name(
            f"{name!r} cannot name a distribution: letters and digits of ASCII are allowed and, "
            f"between them, '-', '_' and '.'. Choose a name such as 'bindax-mine'."
        )
    if len(name) > _LONGEST:
        raise _bad_name(
            f"{name[:20] + '...'!r} has {len(name)} characters; files are named after it, so at "
            f"most {_LONGEST} are allowed."
        )
    module = re.sub(r"[-_.]+", "_", name).lower()
    if not module.isidentifier() or keyword.iskeyword(module):
        raise _bad_name(
            f"The module of {name!r} would be called {module!r}, which Python cannot import. "
            f"Choose another name, for example {'bindax-' + name!r}."
        )
    if module in sys.stdlib_module_names:
        raise _bad_name(
            f"The module of {name!r} would be called {module!r}, as a module of Python's library "
            f"is. Choose another name, for example {'bindax-' + name!r}."
        )
    spec = importlib.util.find_spec(module)
    if spec is not None and spec.origin is not None:  # directories without code do not count
        raise _bad_name(
            f"The module of {name!r} would be called {module!r}, and there is one of this name "
            f"already: {spec.origin}. Choose another name, or uninstall the other one first."
        )
    short = module.removeprefix("bindax_")
    plugin = short if short.isidentifier() else module
    _check_plugin(name, plugin)
    return _Names(name, module, plugin)


def _check_plugin(name: str, plugin: str) -> None:
    """No installed plugin has the name; this reads metadata and imports none."""
    import bindax_diagnosis

    for record in bindax_diagnosis.installed_plugins():
        if record["plugin"] == plugin:
            raise _bad_name(
                f"The plugin of {name!r} would be called {plugin!r}, and {record['distribution']}, "
                f"which is installed, has one of this name. Choose another name, or uninstall "
                f"{record['distribution']} first."
            )


def _bad_name(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="NAME")


def _authors(authors: tuple[str, ...]) -> str:
    """The authors as a line of pyproject.toml; nothing when there are none."""
    tables = []
    for author in authors:
        found = _AUTHOR.fullmatch(author.strip())
        fields = {} if found is None else {k: v for k, v in found.groupdict().items() if v}
        if not fields or not author.isprintable():
            raise click.BadParameter(
                f"{author!r} is not an author. Write a name, an address in angle brackets or both, "
                f"for example --author 'Ada Lovelace <ada@example.org>'.",
                param_hint="--author",
            )
        # A JSON string of printable characters is a TOML string.
        pairs = (
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()
        )
        tables.append(f"{{ {', '.join(pairs)} }}")
    return f"authors = [{', '.join(tables)}]\n" if tables else ""


def _render(variant: str, module: str, values: dict[str, str]) -> dict[Path, str]:
    """The files of a variant, and those that both have, by their paths in the new package."""
    rendered: dict[Path, str] = {}
    for root in (TEMPLATES / "common", TEMPLATES / variant):
        for file in sorted(root.rglob(f"*{_SUFFIX}")):
            parts = file.relative_to(root).with_name(file.name.removesuffix(_SUFFIX)).parts
            path = Path(*(_renamed(part, module) for part in parts))
            rendered[path] = Template(file.read_text(encoding="utf-8")).substitute(values)
    return rendered


def _renamed(part: str, module: str) -> str:
    """Names that start with a dot are spelled out, so that no tool takes a template for its own."""
    if part == "module":
        return module
    return f".{part.removeprefix('dot_')}" if part.startswith("dot_") else part


def _write(target: Path, files: dict[Path, str]) -> None:
    try:
        target.mkdir(parents=True)
        for path, text in files.items():
            file = target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise click.BadParameter(
            f"{target} could not be written: {clause(error)}. Choose a directory where "
            f"you may write.",
            param_hint="--directory",
        ) from error
