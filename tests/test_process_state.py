"""What a test leaves changed is found, named and put back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import machines
import numpy as np
import process_state

from bindax_core import config


def test_what_is_left_changed_is_named_and_put_back(tmp_path: Path) -> None:
    before = process_state.found()
    home = os.environ.get("HOME")
    config.conventions = "jax" if config.conventions == "bindax" else "bindax"
    os.environ["BINDAX_BACKEND"] = "missing"
    os.environ.pop("HOME", None)
    os.chdir(tmp_path)
    sys.path.append("nowhere")
    np.seterr(divide="raise")
    text = "; ".join(process_state.changes(before, process_state.found()))
    process_state.restore(before)
    for name in ("config.conventions: ", "os.environ['BINDAX_BACKEND']: None, now 'missing'"):
        assert name in text
    for name in ("os.environ['HOME']: ", "the working directory: ", "sys.path: ", "numpy.geterr"):
        assert name in text
    assert not process_state.changes(before, process_state.found())
    assert os.environ.get("HOME") == home


def test_a_test_that_leaves_a_setting_changed_fails(tmp_path: Path) -> None:
    (tmp_path / "test_bad.py").write_text(
        "from bindax_core import config\n\n"
        "def test_one():\n    config.debug_nans = True\n\n"
        "def test_two():\n    assert not config.debug_nans\n",
        encoding="utf-8",
    )
    command = (sys.executable, "-m", "pytest", "-q", "-p", "process_state", "test_bad.py")
    environment = {**os.environ, "PYTHONPATH": str(Path(process_state.__file__).parent)}
    options: Any = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    ran = subprocess.run([*command, "-p", "no:cacheprovider"], check=False, **options)
    assert "the test leaves changed: config.debug_nans: False, now True" in ran.stdout
    assert "2 passed, 1 error" in ran.stdout


def test_settings_of_machines_that_lack_something_say_what() -> None:
    newer = machines.releases("2.0", "highest")
    assert machines.lacking(newer) == "there is no Python 2.0"
    assert not machines.lacking(machines.SETTINGS["order 1"])
