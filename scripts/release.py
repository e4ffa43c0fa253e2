"""Give a release the addresses of the project, and refuse to publish one that lacks them.

Where the project is kept is written nowhere in the repository. The variable BINDAX_REPOSITORY says
it, such as https://github.com/OWNER/NAME; the address of the documentation follows from it.

    BINDAX_REPOSITORY=… python scripts/release.py fill        # before the packages are built
    BINDAX_REPOSITORY=… python scripts/release.py check dist  # before they are published
    BINDAX_REPOSITORY=… python scripts/release.py site        # prints the site's address
"""

from __future__ import annotations

import argparse
import email.parser
import email.policy
import os
import re
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from email.message import Message
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
VARIABLE = "BINDAX_REPOSITORY"
PAGES = {"github.com": "github.io", "gitlab.com": "gitlab.io", "codeberg.org": "codeberg.page"}
"""The hosts of sites, by the hosts of the repositories that they belong to."""
_REPOSITORY = re.compile(r"https://(?P<host>[\w.-]+)/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)")


class ReleaseError(Exception):
    """A release that cannot be published as it is; the text says what to do."""


class Addresses(NamedTuple):
    """The addresses of the project, by the labels that package indexes show."""

    repository: str
    documentation: str

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Addresses:
        """Read the setting.

        Raises:
            ReleaseError: when it is missing, or no address of a repository.
        """
        text = environment.get(VARIABLE, "").rstrip("/")
        if not text:
            raise ReleaseError(
                f"{VARIABLE} is not set, so the packages would not say where the project is kept. "
                f"Set it to the address of the repository."
            )
        found = _REPOSITORY.fullmatch(text)
        if found is None or found["host"] not in PAGES:
            raise ReleaseError(
                f"{VARIABLE} must be https://HOST/OWNER/NAME with the host {' or '.join(PAGES)}, "
                f"but it is {text!r}."
            )
        site = f"https://{found['owner'].lower()}.{PAGES[found['host']]}/{found['name']}/"
        return cls(text, site)

    def labelled(self) -> dict[str, str]:
        """Return what ``project.urls`` is to have."""
        return {
            "Repository": self.repository,
            "Documentation": self.documentation,
            "Issues": f"{self.repository}/issues",
            "Changelog": f"{self.repository}/blob/main/CHANGELOG.md",
        }


def projects(root: Path) -> list[Path]:
    """List the pyproject.toml of all packages of the workspace."""
    members = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    patterns = members["tool"]["uv"]["workspace"]["members"]
    return [
        root / "pyproject.toml",
        *sorted(f for p in patterns for f in root.glob(f"{p}/py*.toml")),
    ]


def fill(root: Path, addresses: Addresses) -> list[Path]:
    """Write ``project.urls`` into every package, and return the files."""
    lines = [f'{label} = "{url}"\n' for label, url in addresses.labelled().items()]
    for file in projects(root):
        text = file.read_text("utf-8")
        if "[project.urls]" in text:
            raise ReleaseError(
                f"{file} has addresses already; they are not kept in the repository."
            )
        section = "[project.urls]\n" + "".join(lines)
        file.write_text(f"{text.rstrip()}\n\n{section}", "utf-8", newline="\n")
    return projects(root)


def metadata_of(file: Path) -> Message:
    """Read the metadata of a wheel or a source distribution."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            data = archive.read(name)
    else:
        with tarfile.open(file) as archive:
            member = archive.extractfile(f"{file.name.removesuffix('.tar.gz')}/PKG-INFO")
            data = b"" if member is None else member.read()
    return email.parser.BytesParser(policy=email.policy.compat32).parsebytes(data)


def check(root: Path, directory: Path, addresses: Addresses) -> list[Path]:
    """Check that each package has a wheel and a source distribution, with the addresses.

    Raises:
        ReleaseError: when one is missing, or says something else.
    """
    wanted = {f"{label}, {url}" for label, url in addresses.labelled().items()}
    files = sorted([*directory.glob("*.whl"), *directory.glob("*.tar.gz")])
    for file in files:
        if {*metadata_of(file).get_all("Project-URL", [])} != wanted:
            raise ReleaseError(
                f"{file.name} does not have the addresses of the project. Build it after "
                f"`python scripts/release.py fill`."
            )
    for project in projects(root):
        metadata = tomllib.loads(project.read_text("utf-8"))["project"]
        start = f"{metadata['name'].replace('-', '_')}-{metadata['version']}"
        for name in (f"{start}-*.whl", f"{start}.tar.gz"):
            if not [*directory.glob(name)]:
                raise ReleaseError(f"{directory} has no {name}. Build all packages.")
    return files


def main(arguments: list[str]) -> int:
    """Run a command; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fill", help="write the addresses into every pyproject.toml")
    commands.add_parser("site", help="print the address of the documentation")
    commands.add_parser("check", help="check what is to be published").add_argument("directory")
    given = parser.parse_args(arguments)
    try:
        addresses = Addresses.of(os.environ)
        if given.command == "site":
            print(addresses.documentation)
        elif given.command == "fill":
            print(f"{len(fill(ROOT, addresses))} packages have addresses")
        else:
            print(f"{len(check(ROOT, Path(given.directory), addresses))} files can be published")
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
