"""What document 002 shows, Parts 1 to 5, with the public API: the same programs print the same.

The programs are written anew; their printed results are the document's. Two things differ as the
design says: results are ``Array`` where the document shows NumPy scalars, and a Python float and a
float64 array are different types, so a function is traced for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import grad, jit, jvp, linearize, make_jaxpr, typecheck_jaxpr, typeof, vjp, vmap
from bindax.extend import DebugInfo, Trace, Tracer, full_raise, new_main
from bindax.lax import (
    add,
    broadcast,
    cond,
    cos,
    greater,
    less,
    mul,
    neg,
    reduce_sum,
    sin,
    transpose,
)
from bindax_transforms import trace_to_jaxpr

pytestmark = pytest.mark.smoke

Printed = pytest.CaptureFixture[str]


@pytest.fixture(params=["numpy", "default"], autouse=True)
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each program runs interpreted, and with the best backend that is installed."""
    name = "numpy" if request.param == "numpy" else None
    with bindax.config.override(backend=name, check_jaxprs=True):
        yield


def f(x: Any) -> Any:
    y = sin(x) * 2.0
    return -y + x


def deriv(fun: Any) -> Any:
    return lambda x: jvp(fun, (x,), (1.0,))[1]


def printed(capsys: Printed) -> list[str]:
    return capsys.readouterr().out.splitlines()


# ------------------------------------------------- Part 1: evaluation, jvp, vmap


def test_evaluation(capsys: Printed) -> None:
    print(f(3.0))
    assert printed(capsys) == ["2.7177599838802657"]


def test_operations_of_part_1() -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(add(x, x), x + x)
    np.testing.assert_array_equal(mul(x, x), x * x)
    np.testing.assert_array_equal(neg(x), -x)
    np.testing.assert_array_equal(greater(x, 2.0), x > 2.0)
    np.testing.assert_array_equal(less(x, 2.0), x < 2.0)
    np.testing.assert_array_equal(transpose(x, (1, 0)), x.T)
    np.testing.assert_array_equal(reduce_sum(x), x.sum())
    np.testing.assert_array_equal(reduce_sum(x, axis=1), x.sum(1))
    spread = np.broadcast_to(x[:, None], (2, 4, 3))
    np.testing.assert_array_equal(broadcast(x, (2, 4, 3), (1,)), spread)


def test_jvp_of_sin(capsys: Printed) -> None:
    _, tangent = jvp(sin, (3.0,), (1.0,))
    print(tangent)
    print(cos(3.0))
    y, y_dot = jvp(f, (3.0,), (1.0,))
    print(y)
    print(y_dot)
    assert printed(capsys) == [
        "-0.9899924966004454",
        "-0.9899924966004454",
        "2.7177599838802657",
        "2.979984993200891",
    ]


def test_higher_derivatives(capsys: Printed) -> None:
    fun: Any = sin
    for _ in range(4):
        fun = deriv(fun)
        print(fun(3.0))
    assert printed(capsys) == [
        "-0.9899924966004454",
        "-0.1411200080598672",
        "0.9899924966004454",
        "0.1411200080598672",
    ]


def test_python_control_flow(capsys: Printed) -> None:
    def g(x: Any) -> Any:
        if x > 0.0:
            return 2.0 * x
        return x

    print(deriv(g)(3.0))
    print(deriv(g)(-3.0))
    assert printed(capsys) == ["2.0", "1.0"]


def test_trees_in_and_out(capsys: Printed) -> None:
    def g(x: Any) -> Any:
        y = sin(x) * 2.0
        return {"hi": -y + x, "there": [x, y]}

    y, y_dot = jvp(g, (3.0,), (1.0,))
    print(y)
    print(y_dot)
    array = "Array({}, dtype=float64, weak_type=True)"
    assert printed(capsys) == [
        f"{{'hi': {array.format('2.71775998')}, 'there': [3.0, {array.format('0.28224002')}]}}",
        f"{{'hi': {array.format('2.97998499')}, 'there': [1.0, {array.format('-1.97998499')}]}}",
    ]
    assert str(y["hi"]) == "2.7177599838802657"
    assert str(y["there"][1]) == "0.2822400161197344"
    assert str(y_dot["hi"]) == "2.979984993200891"
    assert str(y_dot["there"][1]) == "-1.9799849932008908"


def test_vmap(capsys: Printed) -> None:
    def add_one(scalar: Any) -> Any:
        assert np.ndim(scalar) == 0
        return 1 + scalar

    vector = np.arange(3.0)
    print(vector)
    print(vmap(add_one, (0,))(vector))
    assert printed(capsys) == ["[0. 1. 2.]", "[1. 2. 3.]"]


def test_forward_jacobian() -> None:
    x = np.arange(3.0)

    def pushforward(v: Any) -> Any:
        return jvp(sin, (x,), (v,))[1]

    by_hand = vmap(pushforward, (0,))(np.eye(3))
    for jacobian in (by_hand, bindax.jacfwd(sin)(x), bindax.jacrev(sin)(x)):
        np.testing.assert_allclose(
            jacobian, [[1.0, 0.0, 0.0], [0.0, 0.54030231, 0.0], [0.0, 0.0, -0.41614684]], atol=5e-9
        )


def test_an_interpreter_like_the_documents() -> None:
    """The machinery of Part 1 under its own names: a trace, tracers, the stack of main traces."""

    class PairTracer(Tracer):
        __slots__ = ("primal", "tangent")

        def __init__(self, trace: Any, primal: Any, tangent: Any) -> None:
            self._trace = trace
            self.primal = primal
            self.tangent = tangent

        @property
        def aval(self) -> Any:
            return typeof(self.primal)

    class PairTrace(Trace):
        __slots__ = ()

        def pure(self, value: Any) -> PairTracer:
            return PairTracer(self, value, 0.0)

        def process_primitive(self, primitive: Any, tracers: Any, params: Any) -> Any:
            primals, tangents = [t.primal for t in tracers], [t.tangent for t in tracers]
            rule = bindax.extend.jvp.get(primitive)
            outs, out_tangents = rule(primals, tangents, **params)
            return [PairTracer(self, x, t) for x, t in zip(outs, out_tangents, strict=True)]

    def jvp_v1(fun: Any, x: Any, t: Any) -> Any:
        with new_main(PairTrace) as main:
            out = full_raise(main.trace, fun(PairTracer(main.trace, x, t)))
        return out.primal, out.tangent

    y, y_dot = jvp_v1(f, 3.0, 1.0)
    assert (str(y), str(y_dot)) == ("2.7177599838802657", "2.979984993200891")


# ------------------------------------------------------------------ Part 2: jaxprs


def test_make_jaxpr(capsys: Printed) -> None:
    jaxpr = make_jaxpr(lambda x: 2.0 * x)(typeof(3.0))
    print(jaxpr)
    print(typecheck_jaxpr(jaxpr))
    assert printed(capsys) == [
        "{ lambda a:float64[] .",
        "  let b:float64[] = mul 2.0 a",
        "  in ( b ) }",
        "(float64[]) -> (float64[])",
    ]


def test_staging_by_data_dependence_and_full_staging(capsys: Printed) -> None:
    def constant() -> list[Any]:
        return [mul(2.0, 2.0)]

    print(trace_to_jaxpr(constant, [], DebugInfo("make_jaxpr_v1"), dynamic=False))
    print(make_jaxpr(lambda: mul(2.0, 2.0))())
    assert printed(capsys) == [
        "{ lambda  .",
        "  let ",
        "  in ( 4.0 ) }",
        "{ lambda  .",
        "  let a:float64[] = mul 2.0 2.0",
        "  in ( a ) }",
    ]


# --------------------------------------------------------------------- Part 3: jit


def test_jit_traces_once(capsys: Printed) -> None:
    @jit
    def g(x: Any, y: Any) -> Any:
        print("tracing!")
        return sin(x) * cos(y)

    print(g(3.0, 4.0))
    print(g(4.0, 5.0))
    lines = printed(capsys)
    assert lines[0] == "tracing!"
    assert len(lines) == 3
    np.testing.assert_allclose(
        [float(line) for line in lines[1:]],
        [-0.09224219304455371, -0.21467624978306993],
        rtol=1e-15,
    )


def test_jit_of_an_array(capsys: Printed) -> None:
    print(jit(lambda x: reduce_sum(x, axis=0))(np.array([1.0, 2.0, 3.0])))
    assert printed(capsys) == ["6.0"]


def test_jit_of_derivatives(capsys: Printed) -> None:
    print(deriv(deriv(f))(3.0))
    print(jit(deriv(deriv(f)))(3.0))
    assert printed(capsys) == ["0.2822400161197344", "0.2822400161197344"]


def test_derivative_and_batch_of_jit(capsys: Printed) -> None:
    @jit
    def g(x: Any) -> Any:
        print("tracing!")
        return f(x)

    y, y_dot = jvp(g, (3.0,), (1.0,))
    print(y)
    print(y_dot)
    y, y_dot = jvp(g, (3.0,), (1.0,))
    assert printed(capsys) == ["tracing!", "2.7177599838802657", "2.979984993200891"]
    # float64[] of the batch is not weak, so it is another type than that of 3.0.
    print(vmap(g, (0,))(np.arange(3.0)))
    assert printed(capsys) == ["tracing!", "[ 0.         -0.68294197  0.18140515]"]
    vmap(g, (0,))(np.arange(4.0))
    assert printed(capsys) == []


def test_results_stay_on_the_device() -> None:
    y = jit(f)(np.float32(3.0))
    assert isinstance(y, bindax.Array)
    if bindax.default_backend() != "numpy":
        assert not y.on_host
        assert not jit(f)(y).on_host
    assert str(y) == "2.71776"


# --------------------------------------------------- Part 4: linearize, vjp, grad


def test_linearize(capsys: Printed) -> None:
    y, sin_lin = linearize(sin, 3.0)
    print(y, sin(3.0))
    print(sin_lin(1.0), cos(3.0))
    y, f_lin = linearize(jit(f), 3.0)
    print(y, f_lin(1.0))
    assert printed(capsys) == [
        "0.1411200080598672 0.1411200080598672",
        "-0.9899924966004454 -0.9899924966004454",
        "2.7177599838802657 2.979984993200891",
    ]


def test_linearize_of_nested_jit(capsys: Printed) -> None:
    @jit
    def outer(x: Any) -> Any:
        y = sin(x) * 2.0
        return inner(x, y)

    @jit
    def inner(x: Any, y: Any) -> Any:
        return cos(x) + y

    y, f_lin = linearize(outer, 3.0)
    print(y, f_lin(1.0))
    assert printed(capsys) == ["-0.7077524804807109 -2.121105001260758"]


def test_vjp_and_grad(capsys: Printed) -> None:
    _, f_vjp = vjp(sin, 3.0)
    print(f_vjp(1.0)[0], cos(3.0))
    print(grad(f)(3.0))
    assert printed(capsys) == ["-0.9899924966004454 -0.9899924966004454", "2.979984993200891"]


def test_grad_of_nested_jit(capsys: Printed) -> None:
    @jit
    def outer(x: Any) -> Any:
        return inner(x * 2.0)

    @jit
    def inner(x: Any) -> Any:
        return cos(x) * 2.0

    print(grad(outer)(3.0))
    assert printed(capsys) == ["1.1176619927957034"]


def test_compositionality_stress() -> None:
    def fun(x: Any) -> Any:
        @jit
        def bar(y: Any) -> Any:
            def baz(w: Any) -> Any:
                q = jit(lambda x: y)(x)
                q = q + jit(lambda: y)()
                q = q + jit(lambda y: w + y)(y)
                return jit(lambda w: jit(sin)(x) * y)(1.0) + q

            p, t = jvp(baz, (x + 1.0,), (y,))
            return t + (x * p)

        return bar(x)

    def same(*values: Any) -> None:
        for value in values[1:]:
            np.testing.assert_allclose(value, values[0], rtol=1e-12)

    same(fun(3.0), jit(fun)(3.0), jvp(fun, (3.0,), (5.0,))[0], jvp(jit(fun), (3.0,), (5.0,))[0])
    same(
        grad(fun)(3.0),
        grad(jit(fun))(3.0),
        jit(grad(jit(fun)))(3.0),
        deriv(fun)(3.0),
        deriv(jit(fun))(3.0),
    )
    same(
        grad(grad(fun))(3.0),
        grad(grad(jit(fun)))(3.0),
        grad(jit(grad(fun)))(3.0),
        jit(grad(grad(fun)))(3.0),
        deriv(grad(fun))(3.0),
        deriv(jit(grad(fun)))(3.0),
    )


# -------------------------------------------------------------------- Part 5: cond


def test_cond(capsys: Printed) -> None:
    print(cond(True, lambda: 3, lambda: 4))
    print(jvp(lambda x: cond(True, lambda: x * x, lambda: 0.0), (1.0,), (1.0,))[1])
    print(vmap(lambda x: cond(True, lambda: x + 1.0, lambda: 0.0), (0,))(np.array([1.0, 2.0, 3.0])))
    print(jit(lambda: cond(False, lambda: 1, lambda: 2))())
    print(linearize(lambda x: cond(True, lambda: x, lambda: 0.0), 1.0)[1](3.14))
    print(linearize(jit(lambda x: cond(True, lambda: x, lambda: 0.0)), 1.0)[1](3.14))
    print(grad(lambda x: cond(True, lambda: x * x, lambda: 0.0))(1.0))
    assert printed(capsys) == ["3", "2.0", "[2. 3. 4.]", "2", "3.14", "3.14", "2.0"]


def test_cond_prints_its_predicate_and_the_branch_for_true_first() -> None:
    text = str(make_jaxpr(lambda p, x: cond(p, lambda x: x * x, lambda x: -x, x))(True, 2.0))
    assert text.splitlines() == [
        "{ lambda a:bool[], b:float64[] .",
        "  let c:float64[] = cond a b",
        "        { lambda a:float64[] .",
        "          let b:float64[] = mul a a",
        "          in ( b ) }",
        "        { lambda a:float64[] .",
        "          let b:float64[] = neg a",
        "          in ( b ) }",
        "  in ( c ) }",
    ]


def test_limitations_of_part_5_are_lifted() -> None:
    def g(x: Any) -> Any:
        return cond(x > 1.5, lambda x: x * x, lambda x: 0.0, x)

    xs = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(vmap(g)(xs), [0.0, 4.0, 9.0])
    np.testing.assert_allclose(vmap(grad(g))(xs), [0.0, 4.0, 6.0])
    np.testing.assert_allclose(vmap(jit(grad(jit(g))))(xs), [0.0, 4.0, 6.0])
    np.testing.assert_allclose(jit(vmap(g))(xs), [0.0, 4.0, 9.0])
