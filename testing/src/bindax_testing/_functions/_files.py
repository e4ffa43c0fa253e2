"""Functions of program files, as the command line names them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bindax_testing._functions._report import FunctionReport
from bindax_testing._functions._run import check_function
from bindax_testing._runner import Progress
from bindax_testing._transformations._run import check_transformation
from bindax_testing._transformations._subject import TransformationSample


def check_function_of_file(
    target: str,
    arguments: str,
    *,
    budget: float,
    seed: int,
    time_limit: float,
    progress: Progress | None = None,
) -> FunctionReport:
    """Check a function of a program file, or a ``TransformationSample`` of it.

    See ``check_function`` and ``check_transformation``.

    Args:
        target: the file and the name of the function, such as ``"program.py:loss"``.
        arguments: the arguments as they stand in a call, in names of the program and ``np``.
        budget: the seconds that it may take.
        seed: what random directions are drawn from.
        time_limit: the seconds that a single check may take.
        progress: called with the ``RuleResult`` of a check after each of its cases.

    Raises:
        ValueError: when there is no such file or function, or the arguments are none.
        CheckInterrupted: when Ctrl-C was pressed; it has the report of what was checked before.

    >>> check_function_of_file("no.py:loss", "2.0", budget=10.0, seed=0, time_limit=5.0)
    Traceback (most recent call last):
    ValueError: there is no file no.py.
    """
    file, _, name = target.rpartition(":")
    module = _module(Path(file))
    function = getattr(module, name, None)
    if isinstance(function, TransformationSample):
        return check_transformation(
            function, seed=seed, budget=budget, time_limit=time_limit, progress=progress
        )
    if not callable(function):
        found = sorted(key for key, one in vars(module).items() if callable(one) and key[0] != "_")
        raise ValueError(f"{file} has no function {name!r}; it has {', '.join(found) or 'none'}.")
    args = _arguments(arguments, module, target)
    return check_function(
        function, *args, seed=seed, budget=budget, time_limit=time_limit, progress=progress
    )


def _module(file: Path) -> ModuleType:
    """The module of a file, imported like any other, so that reports can import it, too."""
    if not file.is_file():
        raise ValueError(f"there is no file {file}.")
    if not file.stem.isidentifier():
        raise ValueError(f"{file} cannot be imported: {file.stem!r} is no name of a module.")
    spec = importlib.util.spec_from_file_location(file.stem, file.resolve())
    if spec is None or spec.loader is None:
        raise ValueError(f"{file} is no Python program.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    sys.path.insert(0, str(file.resolve().parent))
    spec.loader.exec_module(module)
    return module


def _arguments(text: str, module: ModuleType, target: str) -> tuple[Any, ...]:
    try:
        return tuple(eval(f"({text},)" if text else "()", {"np": np, **vars(module)}))
    except Exception as error:
        raise ValueError(
            f"the arguments {text!r} of {target} cannot be evaluated: {type(error).__name__}: "
            f"{error}. Write them as in a call, such as --args 'np.ones(3), 2.0'."
        ) from error
