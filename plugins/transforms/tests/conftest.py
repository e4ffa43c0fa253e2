"""These tests bring operations of their own, so that they need no plugin."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bindax_core import config
from bindax_core._extension_points import runtime
from bindax_core.arrays import _operators as operations
from bindax_core.arrays import _operators as operators

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def toy_operations() -> Iterator[None]:
    """The toy operations in place of whatever a plugin supplies."""
    import toy

    runtime.plugins.load_for_operations()  # or it is loaded later, and finds others there
    attributes = dict(operators.ArrayOperators.__dict__)
    present = dict(operations._operations)
    operations._operations.clear()
    operations.register_array_operations(toy.operations)
    for name, function in toy.attributes.items():
        setattr(operators.ArrayOperators, name, function)
    try:
        yield
    finally:
        operations._operations.clear()
        operations._operations.update(present)
        for name in toy.attributes:
            setattr(operators.ArrayOperators, name, attributes[name])


@pytest.fixture(autouse=True)
def checked_jaxprs() -> Iterator[None]:
    """Every program that a test builds is type-checked, and runs without a compiler."""
    with config.override(check_jaxprs=True, backend="numpy"):
        yield
