"""The option of pytest, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOY = Path(__file__).parents[1]
PLUGIN = "bindax_pytest"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A plugin with a right primitive, a wrong one, and one without samples; and another test."""
    (tmp_path / "mended").mkdir()
    (tmp_path / "mended" / "__init__.py").write_text(
        """
from bindax_core.extend import (
    abstract_eval, hookimpl, impl, jvp, lowering, primitive, transpose, vmap)
from toy import operations

def declare(name, wrong=False):
    def bind(x):
        return made.bind(x)
    made = primitive(
        name,
        impl(lambda x: (3 * x).astype(x.dtype)),
        abstract_eval(lambda x: x),
        jvp(lambda p, t: (bind(*p), bind(*t))),
        vmap(lambda size, operands, dims: (bind(*operands), dims[0])),
        transpose(lambda ct, x: [bind(bind(ct)) if wrong else bind(ct)]),
        lowering["stablehlo"].absent("not needed here"),
    )
    return made

RIGHT = declare("mended.right")
WRONG = declare("mended.wrong", wrong=True)
BARE = declare("mended.bare")

@hookimpl
def bindax_primitives():
    return [RIGHT, WRONG, BARE]

@hookimpl
def bindax_array_operations():
    return operations

@hookimpl
def bindax_samples():
    from bindax_testing import array, sample
    return [sample(p, array((2, 3), "float64")) for p in (RIGHT, WRONG)]
""",
        encoding="utf-8",
    )
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "__init__.py").write_text(
        """
from bindax_core.extend import hookimpl
from mended import declare

TORN = declare("torn.one")

@hookimpl
def bindax_primitives():
    return [TORN]

@hookimpl
def bindax_samples():
    yield 1
    raise KeyError("no table of samples")
""",
        encoding="utf-8",
    )
    metadata = tmp_path / "torn-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: torn\nVersion: 1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text("[bindax.v1]\ntorn = torn\n", encoding="utf-8")
    metadata = tmp_path / "mended-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: mended\nVersion: 1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(
        "[bindax.v1]\nmended = mended\n[bindax.v1.operations]\narray = mended\n", encoding="utf-8"
    )
    (tmp_path / "test_other.py").write_text("def test_other():\n    pass\n", encoding="utf-8")
    (tmp_path / "test_rules.py").write_text(
        "from bindax_testing import conformance\n\ntest_rules = conformance('mended')\n",
        encoding="utf-8",
    )
    return tmp_path


def run(project: Path, *arguments: str, alone: bool = False) -> subprocess.CompletedProcess[str]:
    plugin = () if _is_registered() and not alone else ("-p", PLUGIN)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", *plugin, *arguments]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(project), str(TOY), *filter(None, sys.path)]),
        "BINDAX_BACKEND": "numpy",
        "BINDAX_PLUGINS": "mended,torn",
    }
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    if alone:
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others import what they like
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


def _is_registered() -> bool:
    from importlib.metadata import entry_points

    return any(one.value == PLUGIN for one in entry_points(group="pytest11"))


def test_option_runs_the_checks_alone(project: Path) -> None:
    ran = run(project, "--bindax-conformance=mended", "-k", "transpose or types or samples")

    assert ran.returncode == 1
    assert "test_other" not in ran.stdout
    assert "mended.right-transpose PASSED" in ran.stdout
    assert "mended.wrong-types PASSED" in ran.stdout
    assert "mended.wrong-transpose FAILED" in ran.stdout
    assert "the transpose rule of mended.wrong, from mended 1.0" in ran.stdout
    assert "no sample reaches mended.bare" in ran.stdout
    assert "samples PASSED" in ran.stdout


def test_option_adds_to_given_paths(project: Path) -> None:
    ran = run(project, "--bindax-conformance=mended", "-k", "other or right-jvp", "test_other.py")

    assert "test_other PASSED" in ran.stdout
    assert "mended.right-jvp PASSED" in ran.stdout


def test_unknown_plugin_is_an_error(project: Path) -> None:
    ran = run(project, "--bindax-conformance=nothing")

    assert ran.returncode == 4
    assert "no plugin 'nothing' is installed" in ran.stderr


def test_three_lines_in_a_plugins_tests(project: Path) -> None:
    ran = run(project, "test_rules.py")

    assert "test_rules[mended.right] PASSED" in ran.stdout
    assert "test_rules[mended.wrong] FAILED" in ran.stdout
    assert "test_rules[mended.bare] FAILED" in ran.stdout
    assert "test_rules[samples] PASSED" in ran.stdout
    assert "check_primitive('mended.wrong', 'transpose'" in ran.stdout


def test_samples_that_raise_are_named(project: Path) -> None:
    ran = run(project, "--bindax-conformance=torn", "-k", "samples or types")

    assert ran.returncode == 1
    assert "bindax_samples of torn raised KeyError: 'no table of samples'" in ran.stdout
    assert "1 is no Sample, ExpectedFailure, EquivalentMutant" in ran.stdout
    assert "no sample reaches torn.one" in ran.stdout


@pytest.mark.nightly
def test_workers_find_what_one_process_finds(project: Path) -> None:
    pytest.importorskip("xdist")
    alone, shared = (
        run(project, "--bindax-conformance=mended", "-rA", *workers)
        for workers in (["-p", "no:xdist"], ["-p", "xdist", "-n", "2"])
    )

    assert alone.returncode == shared.returncode == 1
    found = [outcomes(ran.stdout) for ran in (alone, shared)]
    assert found[0] == found[1]
    assert len(found[0]) > 40


def outcomes(text: str) -> set[str]:
    kinds = ("PASSED ", "FAILED ", "SKIPPED ")
    return {line for line in text.splitlines() if line.startswith(kinds)}


def test_without_the_option_nothing_is_imported(tmp_path: Path) -> None:
    (tmp_path / "test_light.py").write_text(
        "import sys\n\n\ndef test_light():\n"
        "    assert 'bindax_pytest' in sys.modules\n"
        "    assert 'numpy' not in sys.modules\n"
        "    assert not [name for name in sys.modules if name.startswith('bindax_core')]\n",
        encoding="utf-8",
    )
    ran = run(tmp_path, "test_light.py", alone=True)

    assert "1 passed" in ran.stdout, ran.stdout


MARKED = """
import numpy as np
import pytest

SOME = ["purity", "jvp", "vmap"]

@pytest.fixture
def values():
    return np.ones(3)

def doubled(x):
    return x + x

def changed(x):
    x += 1
    return x

@pytest.mark.bindax_function(checks=SOME)
def test_right(values):
    return doubled, values

@pytest.mark.bindax_function(checks=SOME)
def test_wrong(values):
    return changed, values

@pytest.mark.bindax_function
def test_nothing():
    return None
"""


def test_marked_tests_return_functions_to_check(tmp_path: Path) -> None:
    (tmp_path / "test_marked.py").write_text(MARKED, encoding="utf-8")
    code = "import pytest, sys; sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TOY.parent), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "failed: changed, purity: changed (" in done.stdout
    assert "a test marked bindax_function returns a function and its arguments" in done.stdout
