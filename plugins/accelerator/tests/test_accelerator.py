"""The accelerator in processes of its own: what it does is what the Python code does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
Run = Callable[..., str]

PYTEST = ("-m", "pytest", "-q", "-n0", "-x", "-p", "no:cacheprovider")
SUITES = (
    "core/tests/tree",
    "tests/test_trees_differential.py",
    "tests/test_documents_on_pytrees.py",
    "plugins/transforms/tests/test_jit.py",
    "plugins/transforms/tests/test_bounded_caches.py",
    "plugins/transforms/tests/test_copies.py",
    "plugins/transforms/tests/test_threads.py",
    "plugins/transforms/tests/test_unhashable_metadata.py",
    "plugins/transforms/tests/test_effects.py",
    "plugins/xla_backend/tests",
    "tests/test_calls_beside_jax.py",
    "tests/test_leaks.py",
)
"""The suites of pytrees and of compiled functions."""


def test_it_does_what_python_does(run_python: Run) -> None:
    names = (
        *("importing_does_not_load_it", "doctor_says_which_code_runs", "flatten_and_unflatten"),
        *("errors_are_the_same", "cycles", "calls_of_compiled_functions", "static_arguments"),
    )
    run_python(str(HERE / "with_accelerator.py"), *[f"test_{name}" for name in names])


@pytest.mark.nightly
def test_it_does_what_python_does_on_many_trees(run_python: Run) -> None:
    run_python(*PYTEST, str(HERE / "with_accelerator.py"), seconds=1000, BINDAX_NIGHTLY="1")


@pytest.mark.nightly
@pytest.mark.parametrize("suite", SUITES)
def test_suites_pass_with_it(suite: str, run_python: Run) -> None:
    run_python(*PYTEST, str(ROOT / suite), seconds=3000, BINDAX_NIGHTLY="")


@pytest.mark.nightly
def test_doctor_finds_nothing_wrong_with_it(run_python: Run) -> None:
    said = run_python("-m", "bindax", "doctor")
    assert "accelerator" not in said.partition("calls and pytrees")[0]


def test_a_denied_one_is_not_used(run_python: Run) -> None:
    code = (
        "import bindax_diagnosis; bindax_diagnosis.diagnose_plugins = list; "  # which takes seconds
        "import bindax; assert bindax.tree.leaves([1]) == [1]; "
        "from bindax._cli import main; main(['doctor'])"
    )
    denied = run_python("-c", code, BINDAX_PLUGINS_DENY="bindax-accelerator")
    assert "calls and pytrees: in Python" in denied


def test_it_is_as_long_as_it_may_be() -> None:
    source = (HERE.parent / "src" / "bindax_accelerator" / "_native.c").read_text()
    assert len(source.splitlines()) <= 1000
    assert max(map(len, source.splitlines())) <= 100
    included = [line for line in source.splitlines() if line.startswith("#include")]
    assert not any("numpy" in line or "jaxlib" in line for line in included), included


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 makes no own interpreter lock")
def test_interpreters_have_states_of_their_own(run_python: Run) -> None:
    code = (
        "import _interpreters as i\n"
        "one = i.create('legacy')\n"
        "i.exec(one, 'from bindax_accelerator import _native')\n"
        "i.destroy(one)\n"
        "import bindax; print(bindax.tree.leaves({'b': 1, 'a': [2]}))"
    )
    if sys.version_info < (3, 13):
        code = code.replace("_interpreters", "_xxsubinterpreters")
        code = code.replace("'legacy'", "isolated=False")
        code = code.replace("i.exec", "i.run_string")
    assert run_python("-c", code) == "[2, 1]\n"
