"""Files that repeat one equation: a program with the equation as text, and its operands."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.extend import is_extended
from bindax_inspect.comparison.errors_of_values import host
from bindax_inspect.comparison.programs import equation_text
from bindax_inspect.comparison.ways import Way, program_of
from bindax_text import jaxpr_to_text

if TYPE_CHECKING:
    from bindax_inspect.comparison.difference import Difference

_TEMPLATE = '''"""One equation, run in two ways: {equation}

It comes from {line}.
"""

import base64
import io

import ml_dtypes
import numpy as np

import bindax
from bindax.extend import jaxpr_as_fun

PROGRAM = """\\
{program}"""

# Operands of {a}, as an archive of NumPy, and their types.
OPERANDS = "{operands}"
TYPES = {types}
{others}

def arrays(text):
    with np.load(io.BytesIO(base64.b64decode(text))) as archive:
        return tuple(archive[f"arr_{{i}}"].view(np.dtype(t)) for i, t in enumerate(TYPES))


equation = jaxpr_as_fun(bindax.jaxpr_from_text(PROGRAM))
print(bindax.compare(equation, arrays(OPERANDS), a={a_code}, b={b_code}))
{last}'''

_LAST = """print("With the operands of {a}:", *equation(*arrays(OPERANDS)), sep="\\n")
print("With the operands of {b}:", *equation(*arrays(OTHER_OPERANDS)), sep="\\n")
"""


def write_repetition(
    path: str | os.PathLike[str], found: Difference, ways: tuple[Way, Way]
) -> None:
    """Write a Python program that runs an equation alone, with its operands, in two ways.

    Args:
        path: the file.
        found: the equation, with the operands of both runs.
        ways: both ways.

    Raises:
        JaxprTextError: when a parameter of the equation has no text form.
        ValueError: when an operand is a random key.
    """
    a, b = ways
    eqn = found.equation
    if any(is_extended(x.aval.dtype) for x in eqn.invars):
        raise ValueError(
            f"{found.primitive} takes random keys, which are not written to files; save what "
            f"random.key_data gives of them, and repeat the call by hand."
        )
    avals = [x.aval for x in eqn.invars]
    first, second = (
        [
            np.asarray(host(pair[k])).astype(aval.dtype)
            for pair, aval in zip(found.inputs, avals, strict=True)
        ]
        for k in (0, 1)
    )
    enlarges = found.own <= found.error.bound
    text = _TEMPLATE.format(
        equation=equation_text(eqn).replace('"""', "'''").replace("\\", "/"),
        line=(found.line or "a line that is not known").replace("\\", "/"),
        program=jaxpr_to_text(program_of(eqn)).replace("\\", "\\\\"),
        a=a.name,
        operands=_encoded(first),
        types=[aval.dtype.name for aval in avals],
        others=f'OTHER_OPERANDS = "{_encoded(second)}"\n' if enlarges else "",
        a_code=a.code,
        b_code=b.code,
        last=_LAST.format(a=a.name, b=b.name) if enlarges else "",
    )
    Path(path).write_text(text, encoding="utf-8")


def _encoded(arrays: Sequence[np.ndarray[Any, Any]]) -> str:
    """An archive of arrays as text; those of types that NumPy lacks as bytes."""
    plain = [x.view(f"V{x.dtype.itemsize}") if x.dtype.kind == "V" else x for x in arrays]
    file = io.BytesIO()
    np.savez_compressed(file, *plain)
    return base64.b64encode(file.getvalue()).decode("ascii")
