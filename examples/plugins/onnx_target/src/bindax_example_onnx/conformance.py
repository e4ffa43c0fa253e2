"""The check of lowering rules: a model computes in ONNX's reference what the primitive computes."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference import ReferenceEvaluator

from bindax_core.extend import typeof
from bindax_example_onnx.exporter import export
from bindax_testing import Case, NotApplicable

DTYPES = ("bool", "int32", "int64", "float32", "float64")
FLOATS = ("float32", "float64")
TOLERANCE = 1e-4


def check_model(case: Case) -> None:
    """Compare the results of a model that is one primitive with those of the primitive."""
    avals = [typeof(x) for x in case.operands]
    outs = [np.asarray(out) for out in case.call(*case.operands)]
    for aval in (*avals, *outs):
        if np.dtype(aval.dtype).name not in DTYPES:
            raise NotApplicable(f"{aval.dtype} is not among the types of the exporter")
        if 0 in aval.shape:
            raise NotApplicable("the reference has no empty tensors")
    if not any(np.dtype(aval.dtype).name in FLOATS for aval in avals):
        raise NotApplicable("models compute with floating-point numbers")
    if any(min(low, high) < 0 for low, high, _ in case.params.get("padding_config", ())):
        raise NotApplicable("the reference does not cut with negative padding, as runtimes do")
    try:
        model = export(case.call, *case.operands)
    except TypeError as error:  # what the format has no word for, as the error says
        raise NotApplicable(str(error)) from error
    inputs = {f"arg{i}": np.asarray(x) for i, x in enumerate(case.operands)}
    results: list[Any] = ReferenceEvaluator(model).run(None, inputs)
    for result, out in zip(results, outs, strict=True):
        found = (result.shape, result.dtype)
        if found != (out.shape, out.dtype):
            raise AssertionError(f"the model gives {found}, not {(out.shape, out.dtype)}.")
        np.testing.assert_allclose(result, out, rtol=TOLERANCE, atol=TOLERANCE)
