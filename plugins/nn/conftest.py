"""Examples in docstrings call the functions of this package as its users do, as ``nn``."""

from typing import Any

import numpy as np
import pytest

import bindax_nn as nn
import bindax_numpy as jnp


@pytest.fixture(autouse=True)
def names_in_examples(doctest_namespace: dict[str, Any]) -> None:
    """Make the names known to every example."""
    doctest_namespace.update(jnp=jnp, nn=nn, np=np)
