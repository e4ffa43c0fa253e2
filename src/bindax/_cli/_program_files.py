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

    The program stays in ``sys.modules``, under the name of its file.

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
    what = f"the arguments {text!r} of {target}"
    return evaluated(text, module, what, "--args 'np.ones(3), 2.0'")


def evaluated(text: str, module: ModuleType, what: str, example: str) -> tuple[Any, ...]:
    """Return the values of an option, in names of a program, ``np`` and ``P``.

    Args:
        text: the values as they stand in a call.
        module: the program.
        what: the option, for the message.
        example: how it is written, for the message.

    Raises:
        UsageError: when they cannot be evaluated.
    """
    import numpy as np

    from bindax import P

    try:
        return tuple(eval(f"({text},)" if text else "()", {"np": np, "P": P, **vars(module)}))
    except Exception as error:
        raise click.UsageError(
            f"{what} cannot be evaluated: {type(error).__name__}: {error}. Write them as in a "
            f"call, such as {example}."
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
