"""The workflows give no more rights than they need, and run what was looked at."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
RIGHTS = {
    "benchmarks": {"contents"},
    "docs": {"contents"},
    "publish": {"attestations", "id-token"},
}
"""The workflows that may write, and what."""
CHECKOUT = re.compile(r"uses: actions/checkout@.*\n +with:\n +persist-credentials: false\n")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_rights_are_given_job_by_job(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "\npermissions: {}\n" in text
    assert text.count("permissions:") == 1 + len(re.findall(r"^  \w+:$", jobs(text), re.MULTILINE))
    written = set(re.findall(r"^ +([\w-]+): write\b", text, re.MULTILINE))
    assert written <= RIGHTS.get(path.stem, set())
    assert "secrets." not in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_leave_no_credentials(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for action in re.findall(r"uses: (\S+)", text):
        assert action.startswith("./") or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
    assert len(CHECKOUT.findall(text)) == text.count("uses: actions/checkout@")


def jobs(text: str) -> str:
    return text.partition("\njobs:\n")[2]


def test_the_workflows_that_contributing_names_are_there() -> None:
    names = {"benchmarks", "docs", "nightly", "publish", "tests", "wheels"}
    assert {path.stem for path in WORKFLOWS} == names


def test_workflows_have_the_form_that_their_schema_says() -> None:
    pytest.importorskip("check_jsonschema")
    command = ["check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    run = subprocess.run(
        [sys.executable, "-m", *command, *map(str, WORKFLOWS)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout


def test_workflows_have_no_known_weakness() -> None:
    zizmor = Path(sys.executable).with_name("zizmor")
    if not zizmor.exists():
        pytest.skip("the group lint is not installed")
    command = [str(zizmor), "--offline", "--no-progress", "--min-severity", "medium"]
    run = subprocess.run(
        [*command, str(ROOT / ".github/workflows")], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout


def test_all_systems_and_pythons_are_tried() -> None:
    text = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    assert "os: [ubuntu-latest, macos-latest, windows-latest]" in text
    for python in ("3.11", "3.12", "3.13", "3.14", "3.13t", "3.14t"):
        assert f'"{python}"' in text
    assert "resolution: lowest-direct" in text


def test_what_lacks_an_address_is_not_published() -> None:
    text = (ROOT / ".github/workflows/publish.yml").read_text(encoding="utf-8")
    assert text.index("scripts/release.py check dist") < text.index("uv publish")
    assert text.index("actions/attest-build-provenance@") < text.index("uv publish")


def test_the_conda_recipe_follows_from_the_packages() -> None:
    spec = importlib.util.spec_from_file_location("recipe", ROOT / "scripts/conda_recipe.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "conda/recipe.yaml").read_text(encoding="utf-8") == module.recipe()


def test_the_conda_recipe_is_one() -> None:
    rattler = pytest.importorskip("rattler_build")
    recipe = rattler.Stage0Recipe.from_yaml((ROOT / "conda/recipe.yaml").read_text("utf-8"))
    variants = recipe.render(rattler.VariantConfig())
    without_compiler = {*ROOT.glob("plugins/*/pyproject.toml")} - {
        ROOT / "plugins/accelerator/pyproject.toml"
    }
    assert len(variants) == 4 + len(without_compiler)


def test_hooks_use_the_tools_of_the_environment() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"^ +entry: (.*)$", text, re.MULTILINE)
    assert entries
    assert all(entry.startswith("uv run ") for entry in entries)
    assert text.count("language: system") == len(entries)
