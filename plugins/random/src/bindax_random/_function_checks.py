"""The check that functions use each random key once."""

from __future__ import annotations

from collections.abc import Iterator

from bindax_core.errors import KeyReuseError
from bindax_random.key_reuse import debug_key_reuse
from bindax_testing import FunctionCall, FunctionCheck, Mismatch, function_check


def checks_of_keys() -> Iterator[FunctionCheck]:
    """A key that is used twice gives the same numbers twice."""
    yield function_check("keys", _used_once, in_double=False)


def _used_once(call: FunctionCall) -> None:
    with debug_key_reuse():
        try:
            call.call(*call.operands)
        except KeyReuseError as error:
            raise Mismatch(str(error)) from error
