"""Functions of program files, and arguments for them, as commands are given them."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import click


def call_of_file(target: str, arguments: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Import a program, and return one of its functions with the arguments of a call.

    Args:
        target: the file and the name of the function, such as ``"program.py:loss"``.
        arguments: the arguments as they stand in a call, in names of the program and ``np``.

    Raises:
        UsageError: when there is no such file or function, or it cannot be called like that.
    """
    file, _, name = target.rpartition(":")
    if not file:
        raise click.UsageError(f"{target!r} is no function of a program: write FILE.py:NAME.")
    module = _module(Path(file))
    function = getattr(module, name, None)
    if not callable(function):
        found = sorted(key for key, one in vars(module).items() if callable(one) and key[0] != "_")
        known = ", ".join(found) or "none"
        raise click.UsageError(f"{file} has no function {name!r}; it has {known}.")
    args = _arguments(arguments, module, target)
    _require_call(function, args, target)
    return function, args


def _module(file: Path) -> ModuleType:
    """The module of a file, imported like any other."""
    if not file.is_file():
        raise click.UsageError(f"there is no file {file}.")
    spec = importlib.util.spec_from_file_location(file.stem, file.resolve())
    if spec is None or spec.loader is None:
        raise click.UsageError(f"{file} is no Python program.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    sys.path.insert(0, str(file.resolve().parent))
    spec.loader.exec_module(module)
    return module


def _arguments(text: str, module: ModuleType, target: str) -> tuple[Any, ...]:
    import numpy as np

    try:
        return tuple(eval(f"({text},)" if text else "()", {"np": np, **vars(module)}))
    except Exception as error:
        raise click.UsageError(
            f"the arguments {text!r} of {target} cannot be evaluated: {type(error).__name__}: "
            f"{error}. Write them as in a call, such as --args 'np.ones(3), 2.0'."
        ) from error


def _require_call(function: Callable[..., Any], args: tuple[Any, ...], target: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some functions of extension modules have none
        return
    try:
        signature.bind(*args)
    except TypeError as error:
        raise click.UsageError(
            f"{target} takes {signature}, but --args gives {len(args)}: {error}."
        ) from error
