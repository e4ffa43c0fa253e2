"""Programs that repeat a failure of a function in another process."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from bindax_core.extend import Array, is_value, tree_flatten, tree_unflatten, typeof
from bindax_testing._functions._call import Function, FunctionCall
from bindax_testing._repeat import expression, is_printable
from bindax_testing._sources import definition_of, import_of


class _Text:
    """An expression inside of a tree, which prints itself."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def program_of(call: FunctionCall, check: str) -> str:
    """A test that repeats a check of a function, to paste into a file; or why there is none."""
    function = call.function
    lines, name = made_elsewhere(function.given)
    if name is None:
        return (
            f"# {function.place} has no name in a module, and the text of\n"
            f"# the program that made it is not to be had: call check_function again, with\n"
            f"# checks=[{check!r}] and seed={call.seed}.\n"
        )
    args = _arguments(call)
    if args is None:
        return (
            f"# The arguments cannot be written as a program: call check_function again, with\n"
            f"# checks=[{check!r}] and seed={call.seed}.\n"
        )
    before, texts = args
    given = "".join(f", {text}" for text in texts)
    linear = f", linear={_linear(function, call)}" if call.linear else ""
    test = "".join(c if c.isalnum() else "_" for c in f"{function.name}_{check}").lower()
    made = f"{lines}{before}"
    system = "import sys\n\n" if made.startswith("sys.") else ""
    return (
        f"{system}import numpy as np\n\nfrom bindax_testing import check_function\n\n{made}\n\n"
        f"def test_{test}():\n"
        f"    report = check_function({name}{given}{linear}, checks=[{check!r}], "
        f"seed={call.seed})\n"
        f"    report.raise_if_failed()\n"
    )


def made_elsewhere(value: Any) -> tuple[str, str | None]:
    """The lines that make a value in another process, and its expression."""
    found = import_of(value) or definition_of(value)
    if found is not None:
        return found
    if isinstance(value, functools.partial):
        lines, name = made_elsewhere(value.func)
        literals = [*value.args, *value.keywords.values()]
        if name is not None and all(isinstance(x, int | float | str) for x in literals):
            given = "".join(f", {x!r}" for x in value.args)
            given += "".join(f", {key}={x!r}" for key, x in value.keywords.items())
            return f"import functools\n{lines}", f"functools.partial({name}{given})"
    return "", None


def _arguments(call: FunctionCall) -> tuple[str, list[str]] | None:
    """Lines before the test, and the expressions of the arguments."""
    function = call.function
    given = function.given_args if function.is_adapted else function.arguments(call.operands)
    lines, texts = "", []
    for x in given:
        leaves, tree = tree_flatten(x)
        written = [_written(leaf) for leaf in leaves]
        if all(text is not None for text in written):
            text = repr(tree_unflatten(tree, [_Text(text) for text in written if text is not None]))
            if _is_plain(x):
                texts.append(text)
                continue
        more, name = made_elsewhere(x)
        if name is None:
            return None
        lines += more
        texts.append(name)
    return lines, texts


def _is_plain(x: Any) -> bool:
    """Tell whether a tree is one that prints itself as an expression."""
    if type(x) in (list, tuple):
        return all(map(_is_plain, x))
    return all(map(_is_plain, x.values())) if type(x) is dict else _written(x) is not None


def _written(x: Any) -> str | None:
    if x is None or isinstance(x, str):
        return repr(x)
    if isinstance(x, Array) and not typeof(x).weak_type:
        x = np.asarray(x) if hasattr(np, typeof(x).dtype.name) else x
    if is_value(x) and is_printable(x):
        return expression(x)
    return None


def _linear(function: Function, call: FunctionCall) -> Any:
    numbers = [i for i in range(len(function.paths)) if i not in function.statics]
    return sorted({int(function.paths[numbers[i]][5:].partition("]")[0]) for i in call.linear})
