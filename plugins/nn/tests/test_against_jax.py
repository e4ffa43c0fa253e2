"""Values, dtypes, weak types and derivatives of `bindax.nn`, beside JAX's stored answers."""

from pathlib import Path

import pytest
from _calls import References, checks, run_check
from _nn_tables import TABLES

REFERENCES = References(Path(__file__).with_name("references.npz"))


@pytest.mark.every(3)
@pytest.mark.parametrize(("table", "check", "call"), checks(TABLES))
def test_same_as_jax(table, check, call):
    run_check(TABLES, REFERENCES, table, check, call)
