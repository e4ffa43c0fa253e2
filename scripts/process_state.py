"""State that a test must leave as it found it: settings, the environment, directories, NumPy's.

A setting that one test leaves changed decides how those after it end, in some orders alone. So a
fixture of all tests compares these before and after each, puts them back, and names the test.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

# Other packages set variables of their own when they are imported.
VARIABLES = (
    "BINDAX_",
    "HOME",
    "JAX_",
    "LANG",
    "LC_",
    "NPY_",
    "PATH",
    "PYTHON",
    "TZ",
    "XDG_",
    "XLA_",
)


def found() -> dict[str, Any]:
    """Return the state of this process, by the name of each part."""
    state: dict[str, Any] = {
        "the working directory": os.getcwd(),
        "sys.path": list(sys.path),
        "numpy.geterr()": np.geterr(),
        "numpy.get_printoptions()": np.get_printoptions(),
    }
    for name, value in os.environ.items():
        if name.startswith(VARIABLES):
            state[f"os.environ[{name!r}]"] = value
    state |= {f"config.{name}": value for name, value in settings().items()}
    return state


def settings() -> dict[str, Any]:
    """Return all settings of bindax, or none where it is not imported."""
    config = getattr(sys.modules.get("bindax_core"), "config", None)
    names = getattr(sys.modules.get("bindax_core._config"), "settings", ())
    return {name: getattr(config, name) for name in names}


def initial_settings() -> dict[str, Any]:
    """Return the values with which the declared settings began."""
    declared = getattr(sys.modules.get("bindax_core._config"), "settings", {})
    return {f"config.{name}": setting.read()[0] for name, setting in declared.items()}


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return what changed, in words."""
    names = [name for name in {**before, **after} if name in before or name.startswith("os.env")]
    return [
        f"{name}: {before.get(name)!r}, now {after.get(name)!r}"
        for name in names
        if before.get(name) is not after.get(name) and before.get(name) != after.get(name)
    ]


def restore(before: dict[str, Any]) -> None:
    """Put back what can be put back."""
    os.chdir(before["the working directory"])
    sys.path[:] = before["sys.path"]
    np.seterr(**before["numpy.geterr()"])
    for name in [name for name in os.environ if name.startswith(VARIABLES)]:
        if f"os.environ[{name!r}]" not in before:
            del os.environ[name]
    for name, value in before.items():
        if name.startswith("os.environ"):
            os.environ[name.split("'")[1]] = value
    for name, value in settings().items():
        if (key := f"config.{name}") in before and before[key] is not value:
            setattr(sys.modules["bindax_core"].config, name, before[key])


@pytest.fixture(autouse=True)
def leaves_no_traces() -> Iterator[None]:
    """Fail where a test leaves something changed, and put it back."""
    before = found()
    yield
    after = found()
    if not after.keys() <= before.keys():  # packages were imported meanwhile
        before = initial_settings() | before
    changed = changes(before, after)
    if changed:
        restore(before)
        pytest.fail("the test leaves changed: " + "; ".join(changed))
