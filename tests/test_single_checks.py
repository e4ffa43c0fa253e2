"""Each check of ``check_function`` finds a mistake that no other check finds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax.extend import Tracer
from bindax_testing import between, check_function, strategies

for needed in ("bindax_random", "bindax_export", "bindax_parallel", "jaxlib"):
    pytest.importorskip(needed, reason="checks of these packages are among those that are tried")
st: Any = pytest.importorskip("hypothesis.strategies")

X = np.array([0.3, -1.2, 0.8])
KEPT: list[Any] = []


def calls(name: str) -> bool:
    """Tell whether a function of this name is on the stack."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == name:
            return True
    return False


def wrong_inside(name: str) -> Callable[[Any], Any]:
    """The sine, but for a wrong factor while a function of this name traces or calls it."""
    return lambda x: bnp.sin(x) * (1.5 if calls(name) else 1.0)


def wrong_for(dtype: str) -> Callable[[Any], Any]:
    """The sine, but for a wrong factor for one dtype."""
    return lambda x: bnp.sin(x) * (1.5 if x.dtype == dtype else 1.0)


@bindax.custom_jvp
def power_of_two(x: Any) -> Any:
    return bnp.exp2(x)


@power_of_two.defjvp
def power_of_two_jvp(primals: Any, tangents: Any) -> Any:
    y = power_of_two(*primals)
    return y, 0.6931471 * y * tangents[0]  # wrong: too few digits of log 2


@bindax.custom_vjp
def backwards(x: Any) -> Any:
    return bnp.exp2(x)


backwards.defvjp(lambda x: (bnp.exp2(x), bnp.exp2(x)), lambda y, ct: (0.6931471 * y * ct,))


@bindax.custom_jvp
def gradient(x: Any) -> Any:
    return bnp.stack([2.0 * x[0] * x[1], x[0] ** 2])


@gradient.defjvp
def gradient_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    rows = [2.0 * (x[1] * t[0] + x[0] * t[1]), 0.0 * t[0]]  # wrong: the second row
    return gradient(x), bnp.stack(rows)


@bindax.custom_jvp
def in_single(x: Any) -> Any:
    x = x.astype("float32")
    return x[0] ** 2 * x[1]


@in_single.defjvp
def in_single_jvp(primals: Any, tangents: Any) -> Any:
    x, t = primals[0].astype("float32"), tangents[0].astype("float32")
    return in_single(x), bnp.sum(gradient(x) * t)


def drawn_twice(key: Any) -> Any:
    return bindax.random.normal(key, (2,)) + bindax.random.uniform(key, (2,))


@bindax.custom_batching.custom_vmap
def one_level(x: Any) -> Any:
    return bnp.sin(x)


@bindax.custom_batching.custom_vmap
def two_levels(x: Any) -> Any:
    return bnp.sin(x)


@two_levels.def_vmap
def two_levels_vmap(size: Any, batched: Any, x: Any) -> Any:
    return bnp.sin(x) * 1.5, True  # wrong


@one_level.def_vmap
def one_level_vmap(size: Any, batched: Any, x: Any) -> Any:
    return two_levels(x), True


class Scale:
    """A function that loses its factor in a pickle."""

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def __call__(self, x: Any) -> Any:
        return self.factor * x

    def __getstate__(self) -> dict[str, Any]:
        return {"factor": 1.0}


def for_short_axes(x: Any) -> Any:
    traced = isinstance(x, Tracer)
    return x * (2.0 if x.shape[0] == 1 and traced else 1.0)


def at_zero(x: Any) -> Any:
    if isinstance(x, Tracer):
        return bnp.where(x == 0, 1.0, bnp.sin(x))
    return bnp.sin(x)


def for_bytes(x: Any, i: Any) -> Any:
    return x[i][0] if i.dtype == "int8" else x[i]


def of_numbers(x: Any) -> Any:
    return 3.0 if isinstance(x, float) else bnp.sin(x)


def of_modes(x: Any, mode: str) -> Any:
    return bnp.log(x - 1.0) * (1.5 if mode == "wide" and np.result_type(x) == np.float16 else 1.0)


MODES = (st.floats(2.0, 9.0).map(np.float32), st.sampled_from(["narrow", "wide"]))
LINEAR = {"linear": True}
FAULTS: list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]] = [
    ("complex step", power_of_two, (X,), {}),
    ("complex step", backwards, (X,), {}),
    ("symmetry", in_single, (X[:2].astype(np.float32),), {}),
    ("dtypes", wrong_for("float16"), (X,), {}),
    ("dtypes", wrong_for("bfloat16"), (X,), {}),
    ("dtypes", wrong_for("complex64"), (X + 1j,), {}),
    (
        "dtypes",
        lambda x, i: x[i] * 1.0 if i.dtype != "int8" else x[i][0],
        (X, np.array([1, 0])),
        {},
    ),
    ("weak types", of_numbers, (np.float64(0.3),), {}),
    ("empty and singleton axes", for_short_axes, (X,), {}),
    ("special values", at_zero, (X,), {}),
    ("linear", lambda x: 2.0 * x + 1.0, (X,), LINEAR),
    ("keys", drawn_twice, (bindax.random.key(0),), {}),
    ("pickle", Scale(3.0), (X,), {}),
    ("nested vmap", one_level, (X,), {}),
    ("inside scan", wrong_inside("scan"), (X,), {}),
    ("inside cond", wrong_inside("cond"), (X,), {}),
    ("inside while_loop", wrong_inside("while_loop"), (X,), {}),
    ("checkpoint", wrong_inside("_remembered"), (X,), {}),
    ("export", wrong_inside("exporting"), (X,), {}),
    ("threads", wrong_inside("work"), (X,), {}),
    ("dtypes", of_modes, MODES, {}),
]
CASES = [pytest.param(*one, id=f"{i}-{one[0]}") for i, one in enumerate(FAULTS)]


@pytest.mark.parametrize(("check", "function", "args", "claims"), CASES)
def test_a_check_finds_its_mistake(check: str, function: Any, args: Any, claims: Any) -> None:
    report = check_function(function, *args, checks=[check], **claims)

    assert [one.check for one in report.failures] == [check], str(report)


@pytest.mark.nightly
@pytest.mark.parametrize(("check", "function", "args", "claims"), CASES)
def test_no_other_check_finds_it(check: str, function: Any, args: Any, claims: Any) -> None:
    report = check_function(function, *args, **claims)

    assert [one.check for one in report.failures if not one.follows] == [check], str(report)


# ------------------------------------------------------------------------------ several devices

ON_DEVICES = """
import sys

import numpy as np
from bindax_testing import check_function

def sharded(x):
    frame, number = sys._getframe(), 0
    while frame is not None:
        if frame.f_code.co_name == "_compare" and "outs" not in frame.f_code.co_names:
            number = frame.f_locals.get("number") if "placed" in frame.f_locals else 0
        frame = frame.f_back
    return x * (1.5 if number == NUMBER else 1.0)

NUMBER = int(sys.argv[1])
report = check_function(sharded, np.ones(3), checks=["sharded", "sharded on 8 devices"])
print([one.check for one in report.failures], [one.status for one in report.results])
print(*[one.test for one in report.failures])
"""


def on_devices(count: int, number: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", ON_DEVICES, str(number)],
        env={**os.environ, "BINDAX_NUM_CPU_DEVICES": str(count), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_programs_for_eight_devices() -> None:
    printed = on_devices(8, 8)

    assert "['sharded on 8 devices'] ['passed', 'failed']" in printed
    assert 'os.environ.setdefault("BINDAX_NUM_CPU_DEVICES", "8")' in printed


@pytest.mark.nightly
def test_programs_for_two_devices() -> None:
    assert "['sharded'] ['failed', 'passed']" in on_devices(8, 2)
    assert "['sharded'] ['failed', 'skipped']" in on_devices(2, 2)


def test_devices_that_are_not_there_are_told() -> None:
    report = check_function(bnp.sin, X, checks=["sharded", "jvp"])

    if len(bindax.devices()) == 1:
        told = "skipped: sharded: there is one device; with BINDAX_NUM_CPU_DEVICES=8 the CPU is "
        assert told + "divided into eight" in str(report)


# ----------------------------------------------------------------------------- what is told


@bindax.custom_vjp
def scaled(x: Any, factor: Any) -> Any:
    return bnp.sum(factor * x)


scaled.defvjp(
    lambda x, factor: (scaled(x, factor), (x, factor)),
    lambda kept, ct: (ct * kept[1] + 0.0 * kept[0], 2.0 * ct * bnp.sum(kept[0])),
)


def test_the_argument_whose_cotangent_is_wrong_is_named() -> None:
    (failure,) = check_function(scaled, X, 0.5, checks=["reverse"]).failures

    assert failure.reason.startswith("reverse mode and forward mode disagree for operands [1]: ")


def test_functions_that_are_not_analytic_have_no_complex_step() -> None:
    reasons = {
        bnp.abs: "it is no analytic function of complex numbers",
        bnp.arctan: None,
        bnp.floor: "it takes no complex numbers: floor is not defined for complex",
        bnp.linalg.norm: "it is no analytic function of complex numbers",
    }
    for function, reason in reasons.items():
        report = check_function(function, X, checks=["complex step"])
        (result,) = report.results
        assert result.status == ("passed" if reason is None else "skipped")
        assert result.reason.startswith(reason or "")


def test_imaginary_parts_that_are_not_precise_are_told() -> None:
    (result,) = check_function(bnp.arctan2, X, X + 2.0, checks=["complex step"]).results

    assert result.reason.startswith("small imaginary parts of its results are not precise")


# --------------------------------------------------------------------------------- strategies


@bindax.custom_jvp
def shifted_log(x: Any) -> Any:
    return bnp.log(x - 1.0)


shifted_log.defjvp(lambda p, t: (shifted_log(*p), t[0] / (p[0] - 1.01)))


def test_smaller_arguments_are_of_the_strategies() -> None:
    values = st.floats(2.5, 20.0).map(np.float64)
    (failure,) = check_function(shifted_log, values, checks=["jvp"]).failures

    # The simplest number from there; that nearest to it, 2, would be outside.
    assert "check_function(shifted_log, np.array(3.0, np.float64)" in failure.test


def test_companions_are_of_the_strategies() -> None:
    def positive(x: Any) -> Any:
        if not isinstance(x, Tracer) and np.any(np.asarray(x) < 1.0):
            raise ValueError("less than 1")
        return bnp.sqrt(x)

    values = strategies.arrays("float64", (3,), domain=between(1.0, 1.02))
    report = check_function(positive, values, checks=["purity", "vmap", "batch sizes"])
    assert report.ok, str(report)
