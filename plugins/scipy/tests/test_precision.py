"""Values where formulas would lose digits, beside Arb's."""

from importlib.util import find_spec

import numpy as np
import pytest

import bindax
from bindax.scipy import special

BACKENDS = ["numpy", *(["xla"] if find_spec("jaxlib") else [])]
VALUES = [
    ("exp1", "float32", (1.0,), 0.2193839343955202736771638),
    ("exp1", "float32", (1.0000002384185791,), 0.21938384668624754043),
    ("expi", "float64", (0.3725074107813666,), -5.119698936555684702144609e-17),
    ("expi", "float64", (0.3725074107813668,), 5.976532731380239826270074e-16),
    ("expi", "float32", (0.3725074231624603,), 4.823941154538120236334079e-8),
    ("expi", "float64", (705.3,), 2.884969831207348979337181e303),
    ("ndtr", "float32", (-12.0,), 1.776482112077678997696171e-33),
    ("ndtr", "float64", (-36.0,), 4.182624065797283331742332e-284),
    ("log_ndtr", "float64", (37.0,), -5.725571222524576822683193e-300),
    ("beta", "float64", (405.5, 405.25), 1.533762603204372217418490e-245),
    ("beta", "float32", (60.0, 60.0), 3.450123146978273602931665e-37),
    ("comb", "float32", (43.0, 22.0), 1052049481860.0),
    ("comb", "float32", (1e35, 0.5), 356824830530918623.3618798),
    ("poch", "float64", (50.5, 50.25), 6.872150975272390275423474e93),
    ("owens_t", "float64", (20.0, 1.0), 1.376812059303116847537811e-89),
    ("owens_t", "float32", (-12.75, 5.5), 7.793631444405996040470314e-38),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "dtype", "operands", "exact"), VALUES)
def test_values_where_digits_are_easily_lost(
    name: str, dtype: str, operands: tuple[float, ...], exact: float, backend: str
) -> None:
    with bindax.config.override(backend=backend):
        found = bindax.jit(getattr(special, name))(*(np.array(x, dtype) for x in operands))

    np.testing.assert_allclose(found, exact, rtol=8 * np.finfo(dtype).eps)


def test_derivatives_of_combinations_of_many_things_do_not_cancel() -> None:
    slope = bindax.grad(special.comb)(np.float32(1e5), np.float32(3))

    np.testing.assert_allclose(slope, 4999900000.333333, rtol=1e-6)
