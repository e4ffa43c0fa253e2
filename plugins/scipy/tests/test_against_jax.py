"""Values, dtypes, weak types and derivatives of `bindax.scipy`, beside JAX's stored answers."""

import functools
from pathlib import Path

import pytest
from _calls import References, checks, run_check
from _tables import TABLES


@functools.cache
def references(table):
    return References(Path(__file__).with_name(f"references_{table}.npz"))


@pytest.mark.every(3)
@pytest.mark.parametrize(("table", "check", "call"), checks(TABLES))
def test_same_as_jax(table, check, call):
    run_check(TABLES, references(table), table, check, call)
