"""Plugin API version 1 is kept: public names, how they are called, and a plugin built for it."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests/data"
WHEEL = DATA / "bindax_example_softsign-0.1.0-py3-none-any.whl"
RECORD = json.loads((DATA / "public_api_v1.json").read_text(encoding="utf-8"))


def _script() -> Any:
    path = ROOT / "scripts/public_api.py"
    specification = importlib.util.spec_from_file_location("public_api", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


public_api = _script()


def test_what_version_1_promises_is_there() -> None:
    found = public_api.changes(RECORD, public_api.current_api())
    if found:
        pytest.fail(public_api.message(found), pytrace=False)


def test_record_holds_the_doors_and_the_hooks() -> None:
    assert RECORD["api_version"] == 1
    assert {"bindax.v1", "bindax.v1.primitives", "bindax.v1.rules"} <= {
        *RECORD["entry_point_groups"]
    }
    assert {"bindax_primitives", "bindax_extensions", "bindax_samples"} <= RECORD["hooks"].keys()
    modules = RECORD["modules"]
    assert {"grad", "jit", "vmap"} <= modules["bindax_core"].keys()
    assert {"hookimpl", "extend", "primitive", "RuleKind"} <= modules["bindax_core.extend"].keys()
    assert "conformance" in modules["bindax_testing"]
    assert "elementwise" in modules["bindax_lax_basic.extend"]
    assert {"Any", "TYPE_CHECKING", "registry"}.isdisjoint(modules["bindax_core.extend"])
    methods = modules["bindax_core.extend"]["RuleKind"]["methods"]
    assert methods["install"] == "(primitive, rule, *, replace_placeholder=False)"
    assert not [name for name in methods if name.startswith("_") and name != "__call__"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(x, axis=0)", "(x, axis=0)"),
        ("(x, axis=0)", "(x, axis=1, mode=...)"),
        ("(x, axis=0)", "(x, axis=0, *, mode=None)"),
        ("(x, axis=0)", "(x, axis=0, *rest, **others)"),
        ("(x, *, axis)", "(x, *, axis=0)"),
        ("(x, *, axis, mode)", "(x, *, mode, axis)"),
        ("(x, *, axis)", "(x, axis=None)"),
        ("(x, /)", "(y, /)"),
        ("(x, /)", "(y)"),
        ("(x, y, /)", "(*xs)"),
        ("(x, *, axis=0)", "(x, **others)"),
    ],
)
def test_additions_are_allowed(old: str, new: str) -> None:
    assert list(public_api.call_changes(old, new)) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("(x, axis=0)", "(x)", "parameter 'axis' was removed"),
        ("(x, axis=0)", "(x, dim=0)", "parameter 'axis' was removed"),
        ("(x, y)", "(y, x)", "parameter 'x' is not the positional parameter 1"),
        ("(x, axis=0)", "(x, mode=0, axis=0)", "'axis' is not the positional parameter 2"),
        ("(x, axis=0)", "(x, *, axis=0)", "'axis' is not the positional parameter 2"),
        ("(x, axis=0)", "(x, axis)", "parameter 'axis' lost its default"),
        ("(x, *, axis=0)", "(x, *, axis)", "parameter 'axis' lost its default"),
        ("(x)", "(x, mode)", "the new parameter 'mode' has no default"),
        ("(x)", "(x, *, mode)", "the new parameter 'mode' has no default"),
        ("(x, /)", "(x, y, /)", "the new parameter 'y' has no default"),
        ("(x, /, y=0)", "(x, y=0, /)", "'y' was removed, or cannot be passed by name"),
        ("(x, *, axis)", "(x)", "parameter 'axis' was removed"),
        ("(x, /)", "()", "parameter 1 ('x') was removed"),
        ("(x=0, /)", "(x, /)", "parameter 1 ('x') lost its default"),
        ("(*xs)", "()", "further positional arguments are not taken"),
        ("(*xs)", "(x=0, *xs)", "further positional arguments are not taken as such"),
        ("(**params)", "()", "further keyword arguments are not taken"),
    ],
)
def test_incompatible_signatures_are_found(old: str, new: str, reason: str) -> None:
    assert reason in "\n".join(public_api.call_changes(old, new))


def test_message_says_what_changed_and_what_to_do() -> None:
    current = copy.deepcopy(RECORD)
    extend = current["modules"]["bindax_core.extend"]
    current["entry_point_groups"].remove("bindax.v1.values")
    del current["hooks"]["bindax_backends"]
    del extend["primitive"]
    extend["extend"]["signature"] = "(primitive)"
    extend["Zero"] = {"kind": "function", "signature": "(aval)"}
    del extend["RuleKind"]["methods"]["derive"]
    extend["ShapedArray"]["attributes"].remove("shape")
    extend["added"] = {"kind": "value"}

    found = public_api.changes(RECORD, current)
    assert [change.partition(": ")[0] for change in found] == [
        "bindax.v1.values",
        "bindax_backends",
        "bindax_core.extend.RuleKind.derive",
        "bindax_core.extend.ShapedArray.shape",
        "bindax_core.extend.Zero",
        "bindax_core.extend.extend",
        "bindax_core.extend.primitive",
    ]
    message = public_api.message(found)
    assert "bindax_core.extend.primitive: the name disappeared" in message
    assert "further positional arguments are not taken as such any more; was (primitive" in message
    assert "introduce plugin API version 2 beside it" in message


def test_record_is_not_written_over_what_was_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    promised = copy.deepcopy(RECORD)
    promised["hooks"]["bindax_gone"] = "()"
    record = tmp_path / "record.json"
    record.write_text(json.dumps(promised))
    monkeypatch.setattr(public_api, "RECORD", record)

    assert public_api.main([]) == 1
    assert "bindax_gone: the hook disappeared" in capsys.readouterr().err
    assert json.loads(record.read_text()) == promised


# --------------------------------------------------------------- a plugin built for version 1

PROGRAM = """
import sys
import numpy as np
import bindax_core
from bindax_core import tree
from bindax_transforms import grad, jit, vmap

(record,) = [r for r in bindax_core.installed_plugins() if r["plugin"] == "softsign"]
assert record["distribution"] == "bindax-example-softsign", record
assert record["file"].startswith(sys.argv[1]), record
assert "bindax_example_softsign" not in sys.modules
primitive = bindax_core.find_primitive("example.softsign")
assert primitive.name == "example.softsign"

from bindax_example_softsign import Bounds, softsign

xs = np.linspace(-2.0, 2.0, 5, dtype=np.float32)
values, slopes = xs / (1 + abs(xs)), 1 / (1 + abs(xs)) ** 2
close = lambda x, y: np.testing.assert_allclose(np.asarray(x), y, rtol=1e-6)
close(softsign(xs), values)
close(jit(softsign)(xs), values)
close(vmap(softsign)(xs), values)
close(vmap(grad(softsign))(xs), slopes)
close(jit(vmap(grad(softsign)))(xs), slopes)
assert float(grad(grad(softsign))(1.0)) == -0.25

bounds = Bounds(2.0, (3.0, 4.0), name="b")
assert tree.leaves(bounds) == [2.0, 3.0, 4.0]
gradient = jit(grad(lambda b: b.lower * b.upper[0]))(bounds)
assert (float(gradient.lower), float(gradient.upper[0]), gradient.name) == (3.0, 2.0, "b")
"""


def test_wheel_built_for_version_1_works(tmp_path: Path) -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        wheel.extractall(tmp_path)
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("BINDAX_", "COVERAGE"))
    }
    present = [environment["PYTHONPATH"]] if environment.get("PYTHONPATH") else []
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *present])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
