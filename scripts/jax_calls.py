"""Calls as text, which tests make with bindax and with JAX, and how JAX compiles many of them."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec

WIDER = {"float32": "float64", "int32": "int64", "complex64": "complex128"}
"""The dtypes of operands in the calls of 64 bits, by those in the calls of 32."""

FAST_COMPILER = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}
"""Options of the compiler: for what runs once, compiling well takes longer than running slowly."""
GOOD_COMPILER = {
    "xla_backend_optimization_level": 3,
    "xla_llvm_disable_expensive_passes": False,
}
"""The values that options have for users, for tests in which the last digit matters."""
SUITE_COMPILER = dict(FAST_COMPILER)
"""Options in ordinary runs of the tests."""
if find_spec("jaxlib") is not None and version("jaxlib").startswith("0.10."):
    # Later releases have no choice, and end the process that asks for it.
    GOOD_COMPILER["xla_cpu_use_fusion_emitters"] = True
    SUITE_COMPILER["xla_cpu_use_fusion_emitters"] = False


def split_calls(text: str) -> list[str]:
    """Return the calls in a text, which are separated by spaces outside of brackets.

    >>> split_calls("sin(A) concatenate([A, B], axis=1)")
    ['sin(A)', 'concatenate([A, B], axis=1)']
    """
    found, depth, start = [], 0, 0
    text = " ".join(text.split()) + " "
    for i, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == " " and depth == 0:
            found.append(text[start:i])
            start = i + 1
    return [call for call in found if call]
