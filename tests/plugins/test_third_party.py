"""A package that nobody here knows is discovered, listed and transformed once it is installed."""

from __future__ import annotations

import importlib.util
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "plugins"
HAS_JAXLIB = importlib.util.find_spec("jaxlib") is not None

CHECK_NOT_IMPORTED = """
import sys
import bindax
assert not [name for name in sys.modules if name.startswith("bindax_example")]
for heavy in ("jaxlib", "pluggy", "importlib.metadata"):
    assert heavy not in sys.modules, heavy
"""


def test_discovered_without_being_imported(environment: Any) -> None:
    environment.script(
        CHECK_NOT_IMPORTED
        + """
import bindax_core
(record,) = [r for r in bindax_core.installed_plugins() if r["plugin"] == "softsign"]
assert record["status"] == "available", record
assert not [name for name in sys.modules if name.startswith("bindax_example")]
primitive = bindax_core.find_primitive("example.softsign")
assert primitive.name == "example.softsign"
assert "bindax_example_softsign.plugin" in sys.modules
"""
    )


def test_listed(environment: Any) -> None:
    commands = ("plugins --json", "plugins", "demo list", "plugins --load --json")
    found, table, models, loaded = environment.bindax_each(*commands)
    records = {record["plugin"]: record for record in found}

    assert {"control_flow", "lax_basic", "softsign"} <= records.keys()
    assert records["softsign"] == {
        "plugin": "softsign",
        "distribution": "bindax-example-softsign",
        "version": "0.1.0",
        "status": "available",
        "why": "",
        "module": "bindax_example_softsign.plugin",
        "file": records["softsign"]["file"],
        "seconds": 0.0,
        "offers": {
            "primitives": ["example.softsign"],
            "pytrees": ["bindax_example_softsign.containers:Bounds"],
        },
    }
    assert records["softsign"]["file"].endswith("bindax_example_softsign/plugin.py")
    assert {record["status"] for record in loaded} == {"loaded"}
    assert "transformer" in models  # the demo that is installed has the example models
    assert "bindax-example-softsign" in table
    assert "pytrees: bindax_example_softsign.containers:Bounds" in table


def test_rules_name_distribution_version_file_and_line(environment: Any) -> None:
    report = environment.bindax("rules", "example.softsign")
    rules = {record["kind"]: record for record in report["rules"]}

    assert report["distribution"] == "bindax-example-softsign"
    for kind in ("impl", "abstract_eval", "jvp", "vmap", "lowering.stablehlo"):
        assert rules[kind]["status"] == "present"
        assert rules[kind]["distribution"] == "bindax-example-softsign"
        assert rules[kind]["version"] == "0.1.0"
        assert rules[kind]["file"].endswith("bindax_example_softsign/function.py")
        assert rules[kind]["line"] > 0
    assert rules["transpose"]["status"] == "absent"
    assert rules["transpose"]["why"] == "softsign is not linear"


def test_an_unknown_primitive_is_an_error_with_a_suggestion(environment: Any) -> None:
    environment.run("-m", "bindax", "rules", "example.softsine", expect=2)
    with pytest.raises(AssertionError, match=r"Did you mean 'example\.softsign'"):
        environment.run("-m", "bindax", "rules", "example.softsine")


def test_differentiated_batched_and_staged(environment: Any) -> None:
    environment.script(
        """
import numpy as np
from bindax import grad, jvp, make_jaxpr, vmap
from bindax_example_softsign import softsign

xs = np.linspace(-2.0, 2.0, 5)
assert float(softsign(3.0)) == 0.75
assert float(grad(softsign)(1.0)) == 0.25
assert float(grad(grad(softsign))(1.0)) == -0.25
assert float(jvp(softsign, (1.0,), (2.0,))[1]) == 0.5
np.testing.assert_allclose(np.asarray(vmap(grad(softsign))(xs)), 1 / (1 + abs(xs)) ** 2)
assert "example.softsign" in str(make_jaxpr(vmap(softsign))(xs))
"""
    )


def test_container_needs_no_import_of_the_plugin(environment: Any) -> None:
    environment.script(
        """
import sys
from bindax import grad, tree
from bindax_example_softsign.containers import Bounds

assert "bindax_example_softsign.plugin" not in sys.modules
bounds = Bounds(2.0, 3.0, name="b")
assert tree.leaves(bounds) == [2.0, 3.0]
assert "bindax_example_softsign.plugin" in sys.modules
gradient = grad(lambda b: b.lower * b.upper)(bounds)
assert (float(gradient.lower), float(gradient.upper), gradient.name) == (3.0, 2.0, "b")
"""
    )


@pytest.mark.skipif(not HAS_JAXLIB, reason="jaxlib is not installed, so neither is the backend")
def test_compiled(environment: Any) -> None:
    environment.script(
        """
import numpy as np
from bindax import grad, jit, vmap
from bindax_example_softsign import softsign

xs = np.linspace(-2.0, 2.0, 5, dtype=np.float32)
compiled = jit(vmap(grad(softsign)))
np.testing.assert_allclose(np.asarray(compiled(xs)), 1 / (1 + abs(xs)) ** 2, rtol=1e-6)
text = jit(softsign).lower(xs).as_text()
assert "stablehlo.divide" in text and "custom_call" not in text, text
"""
    )


def test_a_transformation_of_a_package_is_a_name_of_bindax(environment: Any) -> None:
    environment.script(
        """
import sys
import bindax

assert "bounds" in dir(bindax) and "bindax_example_intervals" not in sys.modules
from bindax import bounds, grad, jit, lax
from bindax_example_intervals import Interval

low, high = jit(bounds(lambda x: lax.sin(x) * x))(Interval(1.0, 2.0))
assert float(low) < 1.0 < 1.8 < float(high) <= 2.0, (low, high)
"""
    )


def test_a_lowering_target_of_a_package(environment: Any) -> None:
    environment.script(
        """
import numpy as np
import onnxruntime
from bindax import grad, lax
from bindax_example_onnx import export

x = np.linspace(-1.0, 1.0, 5, dtype=np.float32)
model = export(grad(lambda x: lax.tanh(x).sum()), x)
(slope,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"arg0": x})
np.testing.assert_allclose(slope, 1 - np.tanh(x) ** 2, rtol=1e-5)
"""
    )


@pytest.mark.parametrize(
    ("name", "checks"),
    [
        pytest.param("softsign", {"round trip", "jvp"}, marks=pytest.mark.nightly),
        pytest.param("intervals", {"bounds hold", "vmap", "jit", "jvp"}, marks=pytest.mark.nightly),
        pytest.param("onnx", {"model"}, marks=pytest.mark.nightly),
        pytest.param("sparsity", {"pattern"}, marks=pytest.mark.nightly),
    ],
)
def test_containers_and_rule_kinds_of_packages_are_checked(
    environment: Any, name: str, checks: set[str]
) -> None:
    report = environment.bindax("check", name, "--budget", "30")

    assert report["ok"]
    passed = {result["check"] for result in report["results"] if result["status"] == "passed"}
    assert checks <= passed


@pytest.mark.nightly
@pytest.mark.parametrize("options", [(), ("--container-only",)], ids=["full", "container"])
def test_the_scaffold_works_beside_installed_packages(
    environment: Any, tmp_path: Path, options: tuple[str, ...]
) -> None:
    package = tmp_path / "package"
    environment.run(
        "-m", "bindax", "new-plugin", "scaffolded", "--directory", str(package), *options
    )
    metadata = tmp_path / "site" / "scaffolded-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = "".join(f"Requires-Dist: {one}\n" for one in project["dependencies"])
    head = "Metadata-Version: 2.1\nName: scaffolded\nVersion: 0.1.0\n"
    (metadata / "METADATA").write_text(head + required, encoding="utf-8")
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    paths = {"PYTHONPATH": os.pathsep.join([str(package / "src"), str(tmp_path / "site")])}

    tests = ("-q", "-p", "no:cacheprovider", "--rootdir", str(package), "-c")
    environment.run(
        "-m", "pytest", *tests, str(package / "pyproject.toml"), str(package), settings=paths
    )
    records = environment.bindax("doctor", settings=paths)
    assert not [one for one in records if "scaffolded" in one["subject"]], records


GOOD = {
    "softsign": {"bindax_core", "bindax_core.extend", "bindax_lax_basic"},
    "intervals": {
        "bindax_control_flow",
        "bindax_core",
        "bindax_core.extend",
        "bindax_lax_basic",
        "bindax_transforms",
    },
    "onnx_target": {"bindax_core", "bindax_core.extend", "bindax_transforms"},
    "sparsity": {
        "bindax_core",
        "bindax_core.extend",
        "bindax_experimental",
        "bindax_lax_basic",
        "bindax_transforms",
    },
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", GOOD)
def test_the_examples_pass_their_own_tests(environment: Any, name: str) -> None:
    tests = str(EXAMPLES / name / "tests")
    environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tests, tests)


@pytest.mark.parametrize("name", GOOD)
def test_the_examples_import_public_names_alone(name: str) -> None:
    for file in (EXAMPLES / name / "src").rglob("*.py"):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith(("import bindax", "from bindax")):
                module = line.split()[1]
                # The module with the check of a rule kind is imported by the suite alone.
                known = (
                    GOOD[name] | {"bindax_testing"} if file.stem == "conformance" else GOOD[name]
                )
                assert module in known or module.startswith("bindax_example_"), line
                assert " _" not in line, line
