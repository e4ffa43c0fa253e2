"""Tests that repeat a failure, to paste into a file and to run in another process."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bindax_core.extend import Primitive
from bindax_diagnosis import installed_plugins
from bindax_testing._cases import Case
from bindax_testing._sources import definition_of, importable


def as_test(
    case: Case, check: str, plugin: str, *, installed: bool = False, by_label: bool = False
) -> str:
    """A test that repeats a check on this case alone, or on its sample; or why there is none.

    Args:
        case: the case that failed.
        check: the name of the check.
        plugin: the name of the subject.
        installed: whether that is an installed plugin, whose samples another process finds.
        by_label: whether to name the sample, and not to write the operands.
    """
    name = "".join(c if c.isalnum() else "_" for c in f"{case.primitive.name}_{check}")
    reason = "the check is one of a package" if by_label else _why_not_written(case)
    if reason and installed:
        return (
            f"from bindax_testing import check_sample\n\n\n"
            f"def test_{name}():\n"
            f"    check_sample({plugin!r}, {case.label!r}, {check!r}, seed={case.seed})\n"
        )
    if reason:
        return (
            f"# This case cannot be written as a program, because {reason}.\n"
            f"# Call check_rules again, with the sample {case.label!r} and seed={case.seed}.\n"
        )
    distinct = {id(row): row for row in case.draws}.values()
    lines = [f"        [{', '.join(map(expression, row))}]," for row in distinct]
    items = ", ".join(f"{key!r}: {expression(x)}" for key, x in case.params.items())
    params = f", params={{{items}}}" if items else ""
    params += f", no_derivative={case.no_derivative}" if case.no_derivative else ""
    system, declaration = _declaration(case.primitive)
    return (
        f"{system}import numpy as np\n\nfrom bindax_testing import check_primitive\n\n"
        f"{declaration}\n"
        f"def test_{name}():\n"
        f"    draws = [\n" + "\n".join(lines) + "\n    ]\n"
        f"    check_primitive({case.primitive.name!r}, {check!r}, draws{params}, "
        f"seed={case.seed})\n"
    )


def _declaration(primitive: Primitive) -> tuple[str, str]:
    """The lines that make a primitive in another process: imports, and what follows them."""
    if any(primitive.name in one["offers"].get("primitives", ()) for one in installed_plugins()):
        return "", ""
    code, line, is_main = primitive.statement
    written = definition_of(primitive) if is_main else None
    if written is not None:
        return "", f"{written[0]}\n"
    file = Path("" if code is None else code.co_filename)
    at_prompt = not Path(primitive.site.file).is_file()
    if code is None or at_prompt or code.co_name != "<module>" or not file.is_file():
        return "", _undeclared(primitive, at_prompt)
    root, module = importable(file)
    inside = is_main and (str(file) != primitive.site.file or _is_guarded(file, line))
    if inside or not all(part.isidentifier() for part in module.split(".")):
        return "", _undeclared(primitive, False)
    path = f"sys.path.insert(0, {str(root)!r})\nimport {module}  # declares {primitive.name}\n\n"
    return "import sys\n\n", path


def _undeclared(primitive: Primitive, at_prompt: bool) -> str:
    where = "at a prompt or in a notebook" if at_prompt else "when a function or a script runs"
    return (
        f"# {primitive.name} is declared {where} ({primitive.site.file}:{primitive.site.line}),\n"
        f"# so no import makes it in another process: declare it here, before the test.\n\n"
    )


def _is_guarded(file: Path, line: int) -> bool:
    """Tell whether a line of a script is not run when it is imported."""
    body = ast.parse(file.read_bytes()).body
    return any(
        isinstance(node, ast.If)
        and node.lineno <= line <= (node.end_lineno or line)
        and any(isinstance(x, ast.Name) and x.id == "__name__" for x in ast.walk(node.test))
        for node in body
    )


def _why_not_written(case: Case) -> str:
    """The part of a case that no program can hold; empty when one can hold it."""
    for name, value in case.params.items():
        if not _literal({name: value}):
            return f"the parameter {name} is no literal"
    if not all(is_printable(x) for row in case.draws for x in row):
        return "an operand is of an extended dtype, or has more than 200 elements"
    return ""


def _literal(params: Mapping[str, Any]) -> bool:
    try:
        for value in params.values():
            if not isinstance(value, np.dtype):
                ast.literal_eval(repr(value))
    except (ValueError, SyntaxError):
        return False
    return True


def is_printable(x: Any) -> bool:
    """Tell whether a program can hold a value."""
    known = np.ndarray | np.generic | bool | int | float | complex
    return isinstance(x, known) and np.asarray(x).size <= 200


def expression(x: Any) -> str:
    """A value as a program writes it."""
    if isinstance(x, np.dtype):
        return f"np.dtype({x.name!r})"
    if isinstance(x, np.generic):
        return f"{expression(np.asarray(x))}[()]"
    if not isinstance(x, np.ndarray):
        return repr(x)
    listed = repr(x.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    dtype = f"np.{x.dtype.name}" if hasattr(np, x.dtype.name) else f"np.dtype({x.dtype.name!r})"
    text = f"np.array({listed}, {dtype})"
    return text if x.size else f"np.zeros({x.shape}, {dtype})"
