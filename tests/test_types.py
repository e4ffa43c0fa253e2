"""Types are known to type checkers, and are those of the objects."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import bindax
from bindax_core.arrays._operators import OPERATOR_NAMES

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "*/src", "plugins/*/src")
PACKAGES = sorted(init.parent for x in FOLDERS for init in ROOT.glob(f"{x}/*/__init__.py"))
KNOWN = 95  # percent of the public symbols


def _classes(stub: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse((ROOT / stub).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _methods(kind: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in kind.body if isinstance(node, ast.FunctionDef)}


def _parameters(method: ast.FunctionDef) -> list[str]:
    found = method.args
    return [x.arg for x in (*found.posonlyargs, *found.args, *found.kwonlyargs)][1:]


def test_all_packages_say_that_they_have_types() -> None:
    assert len(PACKAGES) > 25
    assert [path for path in PACKAGES if not (path / "py.typed").exists()] == []


def test_operators_and_methods_of_arrays_are_in_the_stub() -> None:
    stub = _methods(_classes("core/src/bindax_core/arrays/_array_interface.pyi")["ArrayInterface"])
    for package in ("bindax_lax_basic", "bindax_numpy"):
        supplied = _supplied(package)
        assert not supplied.keys() - stub.keys() - {"aval"}
        for name, attribute in supplied.items():
            _require_same_parameters(name, attribute, stub[name])


def test_special_methods_that_packages_supply_are_found_before_these_are_loaded() -> None:
    for package in ("bindax_lax_basic", "bindax_numpy"):
        special = {name for name in _supplied(package) if name.startswith("__")}
        assert special <= set(OPERATOR_NAMES)


def _supplied(package: str) -> dict[str, Any]:
    plugin = __import__(f"{package}.plugin", fromlist=["plugin"])
    return dict(plugin.bindax_array_attributes())


def _require_same_parameters(name: str, attribute: Any, method: ast.FunctionDef) -> None:
    if isinstance(attribute, property):
        assert method.decorator_list, name
        return
    real = list(inspect.signature(attribute).parameters.values())[1:]
    if any(p.kind is p.VAR_POSITIONAL and p.name == "args" for p in real):
        function = inspect.signature(getattr(bindax.numpy, name))
        real += function.parameters.values()
    words = {p.name for p in real}
    assert set(_parameters(method)) <= words, (name, words)


def test_updates_of_elements_are_in_the_stub() -> None:
    stub = _methods(_classes("core/src/bindax_core/arrays/_array_interface.pyi")["IndexedUpdate"])
    update = type(bindax.numpy.zeros(3).at[0])
    assert {*stub} == {name for name in dir(update) if not name.startswith("_")}


def test_operators_of_variables_are_in_the_stub() -> None:
    stub = _methods(_classes("plugins/nnx/src/bindax_nnx/_operator_types.pyi")["OperatorTypes"])
    operators = next(x for x in bindax.nnx.Variable.__mro__ if x.__name__ == "VariableOperators")
    made = {name for name, x in vars(operators).items() if getattr(x, "__closure__", None)}
    assert {*stub} == made


def test_decorators_stand_on_implementations() -> None:
    files = (file for package in PACKAGES for file in package.rglob("*.py"))
    found = [
        str(file) for file in files if re.search(r"^@(?!overload).*\n@overload", _text(file), re.M)
    ]
    assert found == []


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@pytest.mark.nightly
@pytest.mark.parametrize("package", [p.name for p in PACKAGES if find_spec(p.name)])
def test_types_of_public_symbols_are_known(package: str, tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    command = [
        sys.executable,
        "-m",
        "pyright",
        "--verifytypes",
        package,
        "--ignoreexternal",
        "--outputjson",
    ]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    report = json.loads(run.stdout)["typeCompleteness"]
    unknown = [s["name"] for s in report["symbols"] if s["isExported"] and not s["isTypeKnown"]]
    assert report["completenessScore"] * 100 >= KNOWN, unknown[:40]
