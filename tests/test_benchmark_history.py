"""The history of benchmarks keeps ratios, and names the cases that got slower."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from click.testing import CliRunner, Result

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.history import main


def _document(path: Path, **ratios: float) -> Path:
    results = [{"name": name, "ratio": ratio} for name, ratio in ratios.items()]
    text = json.dumps({"environment": {"python": "3.11"}, "results": results, "failures": {}})
    path.write_text(text, encoding="utf-8")
    return path


def _run(tmp_path: Path, **ratios: float) -> Result:
    results = _document(tmp_path / "benchmarks.json", **ratios)
    arguments = [str(results), str(tmp_path / "history.jsonl"), "--revision", "abc"]
    return CliRunner().invoke(main, arguments)


def test_a_case_that_got_slower_is_named(tmp_path: Path) -> None:
    for ratio in (1.0, 1.1, 0.9, 1.0, 4.0):  # one of them on a busy machine
        assert _run(tmp_path, sin=ratio, cos=1.0).exit_code == 0
    result = _run(tmp_path, sin=1.3, cos=1.2)
    assert result.exit_code == 1
    assert result.output == "sin: 1.30 times the ratio of the last 5 runs\n"
    lines = (tmp_path / "history.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 6
    assert json.loads(lines[-1]) == {
        "revision": "abc",
        "environment": {"python": "3.11"},
        "ratios": {"sin": 1.3, "cos": 1.2},
    }


def test_new_cases_and_faster_ones_are_not(tmp_path: Path) -> None:
    for _ in range(6):
        assert _run(tmp_path, sin=2.0).exit_code == 0
    result = _run(tmp_path, sin=1.0, tan=50.0)
    assert (result.exit_code, result.output) == (0, "")
