"""`bindax new-plugin`: what it writes passes its own tests, and what it refuses it explains."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bindax._cli import main

NAME, MODULE, PLUGIN = "Bindax-Test.scaffold", "bindax_test_scaffold", "test_scaffold"
COMMON = {
    ".github/workflows/tests.yml",
    ".gitignore",
    "README.md",
    "pyproject.toml",
    f"src/{MODULE}/__init__.py",
    f"src/{MODULE}/containers.py",
    f"src/{MODULE}/plugin.py",
    f"src/{MODULE}/py.typed",
    "tests/test_containers.py",
}
OF_PRIMITIVE = {
    f"src/{MODULE}/function.py",
    "tests/test_conformance.py",
    "tests/test_function.py",
}
PUBLIC = {
    "bindax",  # in the README
    "bindax_core",
    "bindax_core.extend",
    "bindax_testing",
    "bindax_transforms",
    "bindax_lax_basic.extend",
}
VARIANTS = pytest.mark.parametrize(
    "options", [(), ("--container-only",)], ids=["full", "container"]
)


def new_plugin(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["new-plugin", *arguments])


def write(directory: Path, *options: str) -> dict[str, Any]:
    """Write a package, and return its pyproject.toml."""
    ran = new_plugin(NAME, "--directory", str(directory), *options)
    assert ran.exit_code == 0, ran.output
    assert f"cd {directory}" in ran.output
    return tomllib.loads((directory / "pyproject.toml").read_text(encoding="utf-8"))


def files(directory: Path) -> set[str]:
    found = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix() for path in found}


def install(directory: Path, project: dict[str, Any]) -> Callable[..., str]:
    """Do what an editable installation does, without a network; return a function that runs."""
    site = directory.parent / "site"
    metadata = site / f"{MODULE}-{project['project']['version']}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {project['project']['version']}\n",
        encoding="utf-8",
    )
    lines = []
    for group, entries in project["project"]["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("BINDAX_", "PYTEST_", "COVERAGE"))
    }
    paths = [str(directory / "src"), str(site), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)

    def run(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.every(2)
@VARIANTS
def test_passes_its_own_tests_and_is_discovered(tmp_path: Path, options: tuple[str, ...]) -> None:
    directory = tmp_path / "deep" / "package"
    run = install(directory, write(directory, *options))

    output = run("pytest", "-v", "-p", "no:cacheprovider", "-p", "no:xdist")
    records = {
        record["plugin"]: record for record in json.loads(run("bindax", "plugins", "--json"))
    }

    passed = set(re.findall(r"^(\S+) PASSED", output, re.MULTILINE))
    expected = {
        "tests/test_containers.py::test_conformance",
        f"src/{MODULE}/containers.py::{MODULE}.containers.Interval",
    }
    checked = json.loads(run("bindax", "check", NAME, "--budget", "20", "--json"))
    offers = {"pytrees": [f"{MODULE}.containers:Interval"]}
    if not options:
        expected |= {
            f"tests/test_conformance.py::test_rules[{PLUGIN}.scale]",
            f"src/{MODULE}/function.py::{MODULE}.function.scale",
        }
        offers["primitives"] = [f"{PLUGIN}.scale"]
    assert expected <= passed, output
    assert records[PLUGIN]["status"] == "available"
    assert records[PLUGIN]["offers"] == offers
    assert checked["ok"]
    names = {result["primitive"] for result in checked["results"] if result["status"] == "passed"}
    assert names == {f"{MODULE}.containers.Interval", *offers.get("primitives", ())}


@VARIANTS
def test_every_import_is_declared(tmp_path: Path, options: tuple[str, ...]) -> None:
    whole = write(tmp_path / "package", *options)
    declared = [one.split(">")[0] for one in whole["project"]["dependencies"]]
    for_tests = [*declared, *(one.split(">")[0] for one in whole["dependency-groups"]["dev"])]

    for file in (tmp_path / "package").rglob("*.py"):
        known = for_tests if "tests" in file.parts else declared
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for package in {name.partition(".")[0] for name in names} - sys.stdlib_module_names:
                # The kit is imported by hooks that it alone calls.
                allowed = {one.replace("-", "_") for one in known} | {MODULE, "bindax_testing"}
                assert package in allowed, f"{file}: {package}"


ALONE = """
import importlib.abc, sys

class Refusing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package.startswith(("bindax", "jax")) and package not in ALLOWED:
            raise ModuleNotFoundError(f"{name} is not declared", name=name)

sys.meta_path.insert(0, Refusing())
import MODULE
import MODULE.containers
import MODULE.plugin
import numpy as np
from bindax_core import tree
interval = MODULE.Interval(1.0, (2.0, 3.0), unit="m")
assert MODULE.containers.INTERVAL.type is MODULE.Interval
if hasattr(MODULE, "scale"):
    np.testing.assert_array_equal(MODULE.scale(np.ones(3), 2.0), 2 * np.ones(3))
"""


@VARIANTS
def test_package_works_with_its_declared_dependencies_alone(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    declared = write(tmp_path / "package", *options)["project"]["dependencies"]
    # Where it is installed, core imports the package that declares jvp, vmap and transpose.
    allowed = [one.split(">")[0].replace("-", "_") for one in declared]
    allowed += [MODULE, "bindax_transforms"]
    code = f"ALLOWED = {allowed!r}\n" + ALONE.replace("MODULE", MODULE)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "package/src")}
    environment["BINDAX_PLUGINS_AUTOLOAD"] = "0"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@VARIANTS
def test_files(tmp_path: Path, options: tuple[str, ...]) -> None:
    project = write(tmp_path / "package", *options)["project"]

    assert files(tmp_path / "package") == (COMMON if options else COMMON | OF_PRIMITIVE)
    assert project["name"] == NAME
    assert "authors" not in project
    assert all(re.fullmatch(r"[\w-]+>=[\d.]+,<[\d.]+", one) for one in project["dependencies"])
    for file in (tmp_path / "package").rglob("*"):
        if file.is_file() and ".github" not in file.parts:
            text = file.read_text(encoding="utf-8")
            assert "$" not in text, file
            imported = re.findall(r"^(?:from|import) (bindax\S*)", text, re.MULTILINE)
            assert {name for name in imported if not name.startswith(MODULE)} <= PUBLIC, file
    workflow = (tmp_path / "package/.github/workflows/tests.yml").read_text(encoding="utf-8")
    assert "python-version: ${{ matrix.python }}" in workflow


def test_a_card_has_every_rule(tmp_path: Path) -> None:
    write(tmp_path / "package")
    function = (tmp_path / "package/src" / MODULE / "function.py").read_text(encoding="utf-8")

    card = function[function.index("scale_p = primitive(") :]
    for kind in ("impl", "abstract_eval", "jvp", "vmap", "transpose", 'lowering["stablehlo"]'):
        assert f"    rules.{kind}(_" in card


def test_a_field_that_flatten_drops_is_found(tmp_path: Path) -> None:
    directory = tmp_path / "package"
    run = install(directory, write(directory, "--container-only"))
    file = directory / "src" / MODULE / "containers.py"
    text = file.read_text(encoding="utf-8")
    damaged = text.replace("interval.upper), interval.unit", "interval.upper), ''")
    assert damaged != text
    file.write_text(damaged, encoding="utf-8")

    with pytest.raises(AssertionError, match=r"(?s)failed: .*The attribute 'unit' was 'm', and is"):
        run("bindax", "check", NAME)


def test_a_wrong_rule_is_found_by_its_tests(tmp_path: Path) -> None:
    directory = tmp_path / "package"
    run = install(directory, write(directory))
    file = directory / "src" / MODULE / "function.py"
    text = file.read_text(encoding="utf-8")
    damaged = text.replace(
        "return [scale(cotangent, factor)]", "return [scale(cotangent, -factor)]"
    )
    assert damaged != text
    file.write_text(damaged, encoding="utf-8")

    with pytest.raises(AssertionError, match=r"(?s)transpose.*function\.py"):
        run("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "tests/test_conformance.py")


def test_authors(tmp_path: Path) -> None:
    authors = ['Ada "A." Lovelace <ada@example.org>', "Ünal\\", "<both@example.org>"]
    options = [word for author in authors for word in ("--author", author)]

    assert write(tmp_path / "package", *options)["project"]["authors"] == [
        {"name": 'Ada "A." Lovelace', "email": "ada@example.org"},
        {"name": "Ünal\\"},
        {"email": "both@example.org"},
    ]


def test_directory_is_named_like_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert new_plugin(NAME).exit_code == 0
    assert (tmp_path / NAME / "pyproject.toml").is_file()
    again = new_plugin(NAME)
    assert again.exit_code == 2
    assert (
        f"{NAME} exists already, and nothing in it was changed. Choose a directory" in again.output
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a b", "cannot name a distribution"),
        ("mine-", "cannot name a distribution"),
        ("mine\n", "cannot name a distribution"),
        ("münchen", "letters and digits of ASCII"),
        ("../mine", "Choose a name such as 'bindax-mine'"),
        ("", "cannot name a distribution"),
        ("3d", "would be called '3d', which Python cannot import. Choose another name"),
        ("class", "for example 'bindax-class'"),
        ("json", "as a module of Python's library is"),
        ("numpy", "there is one of this name already"),
        ("bindax-core", "or uninstall the other one first"),
        ("lax-basic", "bindax-lax-basic, which is installed, has one of this name"),
    ],
)
def test_names_that_do_not_work(tmp_path: Path, name: str, message: str) -> None:
    ran = new_plugin(name, "--directory", str(tmp_path / "package"))

    assert ran.exit_code == 2
    assert "NAME" in ran.output
    assert message in ran.output
    assert not (tmp_path / "package").exists()


@pytest.mark.parametrize("author", ["", "Ada <ada>", "Ada\nBob", "Ada <a@b.org> <c@d.org>"])
def test_authors_that_do_not_work(tmp_path: Path, author: str) -> None:
    ran = new_plugin(NAME, "--directory", str(tmp_path / "package"), "--author", author)

    assert ran.exit_code == 2
    assert "is not an author. Write a name, an address in angle brackets or both" in ran.output
    assert not (tmp_path / "package").exists()


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    ran = new_plugin(NAME, "--directory", str(tmp_path / "file" / "package"))

    assert ran.exit_code == 2
    assert "could not be written" in ran.output
    assert "Choose a directory where you may write." in ran.output


def test_a_name_that_is_too_long_for_a_file(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)

    ran = new_plugin("a" * 300)

    assert ran.exit_code == 2
    assert "has 300 characters" in ran.output
