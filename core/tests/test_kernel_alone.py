"""The kernel with nothing beside it: a primitive, a rule kind and an interpreter of one's own."""

from __future__ import annotations

import subprocess
import sys
from ast import literal_eval

import pytest

import bindax_core

PROGRAM = """
import sys
import numpy as np
from bindax_core import Array
from bindax_core.extend import (
    DebugInfo, RuleKind, Trace, Tracer, full_lower, full_raise, new_main, primitive, rules, typeof,
)

def adapt(primitive, function, options):
    return lambda operands, params: [function(*operands, **params)]

bounds = RuleKind("alone.bounds", adapt=adapt, signature="(*intervals, **params) -> interval")

scale_p = primitive(
    "alone.scale",
    rules.impl(lambda x, *, by: x * np.asarray(by, x.dtype)),
    rules.abstract_eval(lambda x, *, by: x),
    rules.jvp.absent("nothing here differentiates"),
    rules.vmap.absent("nothing here batches"),
    rules.transpose.absent("nothing here transposes"),
    rules.lowering["stablehlo"].absent("nothing here compiles"),
    bounds(lambda x, *, by: tuple(sorted((scale(x[0], by), scale(x[1], by)), key=float))),
)

def scale(x, by):
    return scale_p.bind(x, by=by)

class Between(Tracer):
    def __init__(self, trace, ends):
        super().__init__(trace)
        self.ends = ends

    @property
    def aval(self):
        return typeof(self.ends[0])

    def full_lower(self):
        return self

class Intervals(Trace):
    def pure(self, value):
        return Between(self, (value, value))

    def process_primitive(self, primitive, tracers, params):
        rule = bounds.get(primitive)
        return [Between(self, out) for out in rule([t.ends for t in tracers], params)]

def bounded(function, low, high):
    with new_main(Intervals, origin=DebugInfo("bounded", function)) as main:
        out = function(Between(main.trace, (low, high)))
        return full_raise(main.trace, out).ends

evaluated = scale(np.float32(3.0), -2.0)
assert isinstance(evaluated, Array) and float(evaluated) == -6.0
low, high = bounded(lambda x: scale(scale(x, -2.0), 0.5), np.float32(1.0), np.float32(2.0))
assert (float(low), float(high)) == (-2.0, -1.0)
others = {name.partition(".")[0] for name in sys.modules}
print(sorted(name for name in others if name.startswith(("bindax", "jax"))))
"""

FLOATS = """
import math
import sys
import types

package = types.ModuleType("bindax_core")  # its subpackages, without what it imports itself
package.__path__ = sys.argv[1:]
sys.modules.update(bindax_core=package, numpy=None)  # None: an import of NumPy fails

from bindax_core.kernel._aval import AbstractValue, ValueType, register_value_type, typeof
from bindax_core.kernel._definitions import primitive
from bindax_core.kernel._eval_jaxpr import eval_jaxpr
from bindax_core.kernel._jaxpr import Jaxpr, JaxprEqn, Literal, Var
from bindax_core._jaxpr_printing import format_jaxpr
from bindax_core.kernel._rules import RuleKind
from bindax_core.kernel._rules import abstract_eval
from bindax_core.kernel._stack import evaluate_with, new_main
from bindax_core.kernel._trace import Trace, Tracer, full_raise
from bindax_core.kernel._typecheck import typecheck_jaxpr

class Real(AbstractValue):
    def str_short(self):
        return "real"

real = Real()
register_value_type(ValueType(float, lambda x: real))

impl = RuleKind("impl")
jvp = RuleKind("jvp")

class Evaluation(Trace):
    def boxed(self, operands):
        return operands

    def process_primitive(self, primitive, operands, params):
        return [impl.get(primitive)(*operands, **params)]

evaluate_with(Evaluation)

class Dual(Tracer):
    def __init__(self, trace, primal, tangent):
        super().__init__(trace)
        self.primal, self.tangent = primal, tangent

    @property
    def aval(self):
        return typeof(self.primal)

class JVP(Trace):
    def pure(self, value):
        return Dual(self, value, 0.0)

    def process_primitive(self, primitive, tracers, params):
        primals, tangents = [x.primal for x in tracers], [x.tangent for x in tracers]
        return [Dual(self, *jvp.get(primitive)(primals, tangents, **params))]

def derivative(f):
    def df(x):
        with new_main(JVP) as main:
            return full_raise(main.trace, f(Dual(main.trace, x, 1.0))).tangent
    return df

mul_p = primitive(
    "mul",
    impl(lambda x, y: x * y),
    abstract_eval(lambda x, y: x),
    jvp(lambda p, t: (mul(*p), add(mul(t[0], p[1]), mul(p[0], t[1])))),
)
add_p = primitive(
    "add", impl(lambda x, y: x + y), abstract_eval(lambda x, y: x),
    jvp(lambda p, t: (add(*p), add(*t))),
)
sin_p = primitive(
    "sin", impl(math.sin), abstract_eval(lambda x: x),
    jvp(lambda p, t: (sin(p[0]), mul(cos(p[0]), t[0]))),
)
cos_p = primitive(
    "cos", impl(math.cos), abstract_eval(lambda x: x),
    jvp(lambda p, t: (cos(p[0]), mul(mul(-1.0, sin(p[0])), t[0]))),
)
mul, add, sin, cos = (p.bind for p in (mul_p, add_p, sin_p, cos_p))

f = lambda x: mul(sin(x), x)
assert f(2.0) == math.sin(2.0) * 2.0
assert math.isclose(derivative(f)(2.0), math.cos(2.0) * 2.0 + math.sin(2.0))
assert math.isclose(derivative(derivative(f))(2.0), 2 * math.cos(2.0) - 2.0 * math.sin(2.0))

x, y, z = (Var(real) for _ in range(3))
eqns = [JaxprEqn(sin_p, [x], [y], {}), JaxprEqn(mul_p, [y, Literal(2.0, real)], [z], {})]
jaxpr = Jaxpr([], [x], [z], eqns)
print(typecheck_jaxpr(jaxpr))
print("\\n".join(format_jaxpr(jaxpr)))
assert eval_jaxpr(jaxpr, [], 1.0) == [2.0 * math.sin(1.0)]
assert math.isclose(derivative(lambda x: eval_jaxpr(jaxpr, [], x)[0])(1.0), 2.0 * math.cos(1.0))
print(sorted({name.split(".")[1] for name in sys.modules if name.startswith("bindax_core.")}))
"""


def run(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kernel_computes_on_floats_without_numpy() -> None:
    *printed, modules = run(FLOATS, *bindax_core.__path__).splitlines()
    assert printed == [
        "(real) -> (real)",
        "{ lambda a:real .",
        "  let b:real = sin a",
        "      c:real = mul b 2.0",
        "  in ( c ) }",
    ]
    below = {"_extension_points", "_functions", "_rollback", "_site", "errors"}
    assert {*literal_eval(modules)} == {*below, "_jaxpr_printing", "kernel"}


@pytest.mark.smoke
def test_kernel_needs_no_other_package() -> None:
    # The package that declares jvp, vmap and transpose is loaded where it is installed.
    assert set(literal_eval(run(PROGRAM))) <= {"bindax_core", "bindax_transforms"}
