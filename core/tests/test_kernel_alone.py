"""The kernel with nothing beside it: a primitive, a rule kind and an interpreter of one's own."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import numpy as np
from bindax_core import Array
from bindax_core.extend import (
    Origin, RuleKind, Trace, Tracer, full_lower, full_raise, new_main, primitive, rules, typeof,
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
    with new_main(Intervals, origin=Origin("bounded", function)) as main:
        out = function(Between(main.trace, (low, high)))
        return full_raise(main.trace, out).ends

evaluated = scale(np.float32(3.0), -2.0)
assert isinstance(evaluated, Array) and float(evaluated) == -6.0
low, high = bounded(lambda x: scale(scale(x, -2.0), 0.5), np.float32(1.0), np.float32(2.0))
assert (float(low), float(high)) == (-2.0, -1.0)
others = {name.partition(".")[0] for name in sys.modules}
print(sorted(name for name in others if name.startswith(("bindax", "jax"))))
"""


@pytest.mark.smoke
def test_kernel_needs_no_other_package() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['bindax_core']"
