"""The check of functions that are exported, written, read and called."""

from __future__ import annotations

from collections.abc import Iterator

from bindax_core import config
from bindax_core.errors import BindaxError
from bindax_export._export import export
from bindax_export._reading import deserialize
from bindax_testing import FunctionCall, FunctionCheck, NotApplicable, function_check
from bindax_testing.extend import require_same
from bindax_transforms import jit


def checks_of_export() -> Iterator[FunctionCheck]:
    """The check that an exported program computes what the function does."""
    yield function_check("export", _round_trip, in_double=False)


def _round_trip(call: FunctionCall) -> None:
    wanted = call.call(*call.operands)
    with config.override(backend=None):
        try:
            exported = export(jit(call.fresh()))(*call.operands)
        except BindaxError as error:
            raise NotApplicable(f"it cannot be exported: {error!s:.100}") from error
        read = deserialize(exported.serialize())
        outs = read.call(*call.operands)
    for i, (got, one) in enumerate(zip(outs, wanted, strict=True)):
        require_same(f"result {i} of the exported program", got, one, types=False, scale=5.0)
