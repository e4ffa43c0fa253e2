"""Programs of reports repeat a failure in another process, or say why they cannot."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from planted import declare

from bindax_testing._cases import Case
from bindax_testing._repeat import as_test, expression

DECLARATION = """
import numpy as np
from bindax_core.extend import abstract_eval, impl, jvp, lowering, primitive, transpose, vmap

def declare():
    return primitive(
        "repeated.triple",
        impl(lambda x, table=None: (3 * x).astype(x.dtype)),
        abstract_eval(lambda x, table=None: x),
        jvp(lambda p, t, **params: (triple_p.bind(*p, **params), t[0])),
        vmap(lambda size, xs, dims, **params: (triple_p.bind(*xs, **params), dims[0])),
        transpose(lambda ct, x, **params: [triple_p.bind(ct, **params)]),
        lowering["stablehlo"].absent("a test"),
    )
"""
AT_IMPORT = f"{DECLARATION}\ntriple_p = declare()\n"
CHECK = """
from bindax_testing import array, check_rules, sample
report = check_rules(triple_p, [sample(triple_p, array((2, 2), "float64"){params})])
(failure,) = [one for one in report.failures if one.check == "jvp"]
print(failure.test)
"""


def run(code: str | Path, cwd: Path, *, fails: bool = False) -> str:
    """Output of another process, which has nothing of this one but the search path."""
    given = ["-c", code] if isinstance(code, str) else [str(code)]
    path = os.pathsep.join(one for one in sys.path if "site-packages" in one)
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, *given]
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


def repeats(printed: str, directory: Path) -> None:
    """Check that the printed program fails as the report says, in an empty directory."""
    elsewhere = directory / "elsewhere"
    elsewhere.mkdir()
    (name,) = re.findall(r"^def (test_\w+)\(", printed, re.MULTILINE)
    error = run(f"{printed}\n{name}()", elsewhere, fails=True)
    assert "Mismatch: failed: repeated.triple, jvp: the jvp rule of repeated.triple, from" in error
    assert "the tangent of result 0 with tangents for operands [0] should be" in error


@pytest.mark.nightly
def test_primitive_of_a_module(tmp_path: Path) -> None:
    (tmp_path / "triples.py").write_text(AT_IMPORT, encoding="utf-8")
    printed = run("from triples import triple_p" + CHECK.format(params=""), tmp_path)
    assert f"sys.path.insert(0, {str(tmp_path)!r})\nimport triples  # declares repe" in printed
    repeats(printed, tmp_path)


@pytest.mark.nightly
def test_primitive_of_a_package_with_relative_imports(tmp_path: Path) -> None:
    package = tmp_path / "outer" / "inner"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "cards.py").write_text(
        "from .triples import declare\ntriple_p = declare()\n", encoding="utf-8"
    )
    (package / "triples.py").write_text(
        DECLARATION.replace("triple_p.bind", "bind")
        + "def bind(*args, **params):\n    from .cards import triple_p\n"
        "    return triple_p.bind(*args, **params)\n",
        encoding="utf-8",
    )
    printed = run("from outer.inner.cards import triple_p" + CHECK.format(params=""), tmp_path)
    assert "import outer.inner.cards  # declares repeated.triple" in printed
    repeats(printed, tmp_path)


def test_primitive_of_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        AT_IMPORT + "if __name__ == '__main__':" + textwrap.indent(CHECK, "    "), encoding="utf-8"
    )
    script.write_text(script.read_text(encoding="utf-8").format(params=""), encoding="utf-8")
    repeats(run(script, tmp_path), tmp_path)


@pytest.mark.nightly
def test_primitive_of_a_test_module(tmp_path: Path) -> None:
    module = tmp_path / "test_mine.py"
    body = textwrap.indent(CHECK.format(params=""), "    ")
    module.write_text(f"{AT_IMPORT}\ndef test_it():{body}", encoding="utf-8")
    printed = run("import pytest; pytest.main(['-sq', '-p', 'no:cacheprovider'])", tmp_path)
    printed = printed[printed.index("import sys") : printed.rindex("seed=0)") + 7]
    assert "import test_mine  # declares repeated.triple" in printed
    repeats(printed, tmp_path)


NOWHERE = {
    "prompt": (AT_IMPORT + CHECK, "at a prompt or in a notebook (<string>:6)"),
    "function": (
        "from triples import declare\n"
        "import triples\ndef make():\n    triples.triple_p = triple_p = declare()\n"
        "    return triple_p\ntriple_p = make()\n" + CHECK,
        "when a function or a script runs (",
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["prompt", "function"])
def test_primitive_that_no_import_makes(tmp_path: Path, name: str) -> None:
    code, where = NOWHERE[name]
    (tmp_path / "triples.py").write_text(DECLARATION, encoding="utf-8")
    printed = run(code.replace("{params}", ""), tmp_path)
    assert f"# repeated.triple is declared {where}" in printed
    assert (
        "# so no import makes it in another process: declare it here, before the test." in printed
    )
    # With the declaration in the gap, it runs.
    (tmp_path / "triples.py").write_text(AT_IMPORT, encoding="utf-8")
    before, gap, after = printed.partition("def test")
    insert = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import triples\n"
    repeats(before + insert + gap + after, tmp_path)


def test_scalars_of_numpy_keep_their_dtypes() -> None:
    assert expression(np.int32(1)) == "np.array(1, np.int32)[()]"
    assert expression(np.float64("nan")) == "np.array(np.nan, np.float64)[()]"


@pytest.mark.nightly
def test_primitive_below_a_guard_of_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    guarded = f"triple_p = declare()\n{CHECK.format(params='')}"
    script.write_text(
        f"{DECLARATION}\nif __name__ == '__main__':\n{textwrap.indent(guarded, '    ')}",
        encoding="utf-8",
    )
    repeats(run(script, tmp_path), tmp_path)


def test_case_that_no_program_can_hold() -> None:
    operands = [[np.ones(2)]]
    case = Case(declare("repeated.table"), operands, {"table": frozenset({1})}, "with a table")
    assert as_test(case, "jvp", "repeated.table").splitlines() == [
        "# This case cannot be written as a program, because the parameter table is no literal.",
        "# Call check_rules again, with the sample 'with a table' and seed=0.",
    ]
    installed = as_test(case, "jvp", "mine", installed=True)
    assert "check_sample('mine', 'with a table', 'jvp', seed=0)" in installed
    large = Case(declare("repeated.table"), [[np.ones(300)]], {}, "large")
    assert "has more than 200 elements.\n" in as_test(large, "jvp", "repeated.table")
