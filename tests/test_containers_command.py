"""`bindax containers`: every container type, who gave it, where, and whether it is in force."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import bindax
from bindax._cli import main
from bindax.tree_util import register_pytree_node, scoped_registration

KEYS = {"type", "status", "distribution", "version", "file", "line", "why"}


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["containers", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def records(*arguments: str) -> dict[str, Any]:
    return {record["type"]: record for record in json.loads(run("--json", *arguments))}


class Ours:
    """A class that a test registers."""


def test_built_in_types() -> None:
    found = records()
    for name in ("builtins:dict", "builtins:list", "builtins:NoneType", "collections:deque"):
        assert found[name]["status"] == "built in"
        assert found[name]["distribution"] == "bindax-core"
    partial = found["bindax_core.tree._register:Partial"]
    assert partial["status"] == "built in"
    assert partial["file"].endswith("_register.py")
    assert all(record.keys() == KEYS for record in found.values())


def test_what_this_process_registered() -> None:
    name = f"{__name__}:Ours"
    assert name not in records()
    with scoped_registration():
        register_pytree_node(Ours, lambda _: ((), None), lambda *_: Ours())
        record = records()[name]
        assert record["status"] == "registered"
        assert Path(record["file"]) == Path(__file__)
        line = Path(__file__).read_text(encoding="utf-8").splitlines()[record["line"] - 1]
        assert "register_pytree_node(Ours" in line
    assert name not in records()


def test_table_for_people() -> None:
    text = run()
    assert "container types" in text
    assert "collections:OrderedDict" in text
    assert "_builtin.py" in text


def test_offered_types_are_listed_without_import_and_registered_after_loading() -> None:
    pytest.importorskip("bindax_containers", reason="a package that offers container types")
    pytest.importorskip("xarray", reason="the library whose types are offered")
    program = (
        "import json, sys\n"
        "from click.testing import CliRunner\n"
        "from bindax._cli import main\n"
        "def run(*more):\n"
        "    found = json.loads(CliRunner().invoke(main, ['containers', '--json', *more]).output)\n"
        "    return {r['type']: r for r in found if r['type'].startswith('xarray')}\n"
        "before = run()\n"
        "imported = [name for name in ('xarray', 'bindax_containers') if name in sys.modules]\n"
        "print(json.dumps([before, imported, run('--load')]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    before, imported, after = json.loads(done.stdout)
    assert not imported
    assert before.keys() == {"xarray:DataArray", "xarray:Dataset", "xarray:Variable"}
    for record in before.values():
        assert record["status"] == "available"
        assert record["distribution"] == "bindax-containers"
        assert record["file"].endswith("entry_points.txt")
        assert record["line"] > 0
    assert after.keys() == before.keys()
    for record in after.values():
        assert record["status"] == "registered"
        assert record["file"].endswith("labelled.py")


def test_what_may_not_load_says_so() -> None:
    pytest.importorskip("bindax_containers", reason="a package that offers container types")
    with bindax.plugin_settings(deny=["bindax-containers"]):
        found = [r for r in bindax.container_types() if r["type"].startswith("xarray:")]
    for record in found:
        # Registered or loaded in this process, if another test used one before.
        assert record["status"] in ("denied", "registered", "absent")
        assert record["status"] == "registered" or record["why"]
