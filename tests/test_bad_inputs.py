"""Every public callable of every front end with values that it does not take.

Only errors that a user can read, each naming the function or the argument. Ordinary runs call a
part of the callables, at night all are called.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import pkgutil
import re
import traceback
import typing
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import bindax
from bindax._aliases import ALIASES
from bindax.errors import BindaxError
from bindax.tree_util import scoped_registration

for package in ("nn", "nnx", "numpy", "optimizers", "parallel", "random", "scipy"):
    pytest.importorskip(f"bindax_{package}", reason="the package is not installed")

BAD = {
    "None": None,
    "a text": "a",
    "a dict": {"a": 1},
    "an object": object(),
    "a list of texts": ["a", "b"],
    "a ragged list": [[1], [2, 3]],
    "no elements": np.zeros((0, 3), np.float32),
    "complex": np.array([1j, 2]),
    "a huge number": 2**70,
    "a negative number": -3,
    "a function": len,
    "a type": int,
    "texts": np.array(["a"]),
    "a matrix": np.ones((2, 3), np.float32),
    "a fraction": 0.5,
    "nan": float("nan"),
    "an empty tuple": (),
}
# An axis that nothing names is a NameError, as it is in JAX.
LEGAL = (TypeError, ValueError, IndexError, OverflowError, NameError, BindaxError)
# Programs, what puts itself in the place of JAX, and the names for authors of plugins: these take
# types, rules and equations, not values of users, and check_rules checks them.
LEFT_OUT = re.compile(r"\._|\.demo|\.jax|bindax\.extend$|\.hijax$")
# They write or read files, change settings for good, or wait for somebody at the keyboard.
SKIPPED = {
    "breakpoint",
    "configure_plugins",
    "diagnose_plugins",
    "fromfile",
    "get_printoptions",
    "load",
    "load_safetensors",
    "printoptions",
    "save",
    "save_safetensors",
    "savez",
    "set_printoptions",
}
# Made of other public functions, which their errors name.
MADE_OF = {
    "hessian": {"jacfwd", "jacrev"},
    "remat": {"checkpoint"},
    "inspect": {"jit"},
    "Ref": {"Reference"},
}
PARTS = 12


class Called(NamedTuple):
    """A public callable.

    Attributes:
        name: where it is public.
        function: the callable.
        parameters: its parameters.
    """

    name: str
    function: Callable[..., Any]
    parameters: list[inspect.Parameter]


def callables() -> Iterator[Called]:
    """Every public callable that users import, once."""
    names = {*ALIASES, *(one.name for one in pkgutil.walk_packages(bindax.__path__, "bindax."))}
    seen: set[int] = set()
    for module in ["bindax", *sorted(names)]:
        if LEFT_OUT.search(module):
            continue
        loaded = importlib.import_module(module)
        for name in getattr(loaded, "__all__", [n for n in dir(loaded) if not n.startswith("_")]):
            function = getattr(loaded, name)
            known = name in SKIPPED or id(function) in seen
            if known or not callable(function) or _is_abstract(function):
                continue
            seen.add(id(function))
            try:
                parameters = list(inspect.signature(function).parameters.values())
            except (TypeError, ValueError):  # what is written in C may have none
                continue
            yield Called(f"{module}.{name}", function, parameters)


def _is_abstract(function: Any) -> bool:
    """Tell whether something is an error, a protocol or a type, which are named and not called."""
    is_error = inspect.isclass(function) and issubclass(function, BaseException)
    is_type = typing.get_origin(function) is not None
    return is_error or is_type or getattr(function, "_is_protocol", False)


GOOD: dict[str, Callable[[], Any]] = {
    "function": lambda: lambda *args, **kwargs: args[0] if args else None,
    "key": lambda: bindax.random.key(0),
    "rngs": lambda: bindax.nnx.Rngs(0),
    "shape": lambda: (2, 3),
    "dtype": lambda: np.float32,
    "axis": lambda: 0,
    "size": lambda: 3,
    "tree": lambda: {"a": np.ones(3)},
    "treedef": lambda: bindax.tree.structure({"a": 1}),
    "array": lambda: np.ones((3, 3), np.float32),
}
KINDS = {
    "function": r"f|fun|func|fn|.*_fun|f_.*|callable|body|apply_fn|jvp|fwd|bwd|init_fn|matvec",
    "key": r"key|rng",
    "rngs": r"rngs",
    "shape": r"shape|sizes|new_sizes|out_shape",
    "dtype": r".*dtype.*",
    "axis": r"axis|dimension|dim",
    "size": r"n|k|num|size|length|axis_size|num_.*|(in_|out_)?features|decimals",
    "tree": r"tree|pytree",
    "treedef": r"treedef|structure",
}


def good(name: str) -> Any:
    """A value that a parameter of a name usually takes."""
    return GOOD[[*kinds_of(name), "array"][0]]()


def kinds_of(name: str) -> list[str]:
    """The kinds of values that a name stands for."""
    return [kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, name.lower())]


def calls(one: Called) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """The arguments of each call: one bad value in one place, the others as they should be."""
    kinds = inspect.Parameter
    places = [p for p in one.parameters if p.kind is not kinds.VAR_KEYWORD]
    required = [
        p
        for p in places
        if p.default is p.empty and p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    ]
    named = [p.name for p in places if p.default is p.empty and p.kind is kinds.KEYWORD_ONLY]
    for place in places:
        if place.kind is kinds.POSITIONAL_ONLY and place not in required:
            continue
        for what, value in BAD.items():
            args, kwargs = [good(p.name) for p in required], {name: good(name) for name in named}
            if place.kind is kinds.VAR_POSITIONAL:
                args.append(value)
            elif place in required:
                args[required.index(place)] = value
            else:
                kwargs[place.name] = value
            yield f"{one.name}, {place.name}={what}", args, kwargs


DOUBLED = re.compile(r"[^\W\d]\.\.(?=\s|$)|\w \.(?=\s|$)|[,;:]\.(?=\s|$)|(?<![.\d])\.[,;](?=\s)")
"""Two full stops, or a full stop beside another mark, where one sentence was put into another.

Those of an ellipsis, and of numbers in arrays, are none.
"""


def fault(one: Called, args: list[Any], kwargs: dict[str, Any]) -> str | None:
    """The mistake in an error that a call raises, or None."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = one.function(*args, **kwargs)
            if inspect.isfunction(found) and "function" in kinds_of(one.parameters[0].name):
                found(np.ones(3, np.float32))
    except LEGAL as error:
        if DOUBLED.search(str(error)):
            return f"punctuation: {error!s:.300}"
        return None if is_named(one, error) else f"names nothing: {error!r:.120}"
    except Exception as error:
        return f"{error!r:.120}"
    return None


def is_named(one: Called, error: Exception) -> bool:
    """Tell whether the text or the shown frames of an error name the function or an argument."""
    words = {one.name.rpartition(".")[2], getattr(one.function, "__name__", "")}
    if isinstance(one.function, type(bindax.numpy.float32)):
        words.add("array")  # which makes the scalar
    words |= MADE_OF.get(one.name.rpartition(".")[2], set())
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    # Of what a function returned, and of a method, the name begins with that of the function.
    shown = {part for code in frames for part in code.co_qualname.split(".")}
    words |= {p.name for p in one.parameters}
    return bool(words & (shown | set(re.findall(r"\w+", str(error)))))


def sweep(chosen: Callable[[Called], bool]) -> None:
    """Call what is chosen with every bad value in every place."""
    wrong = []
    with (
        warnings.catch_warnings(),
        scoped_registration(),
        bindax.config.override(backend="numpy"),
    ):
        warnings.simplefilter("ignore")
        for one in filter(chosen, callables()):
            for what, args, kwargs in calls(one):
                problem = fault(one, args, kwargs)
                wrong += [f"{what}: {problem}"] if problem else []
    assert not wrong, f"{len(wrong)} calls:\n" + "\n".join(wrong[:2000])


def test_bad_values_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sweep(lambda one: zlib.crc32(one.name.encode()) % PARTS == 0)


@pytest.mark.nightly
def test_bad_values_are_refused_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sweep(lambda one: True)


def test_the_sweep_reaches_every_front_end() -> None:
    modules = {one.name.rpartition(".")[0] for one in callables()}
    expected = "bindax lax numpy numpy.linalg numpy.fft nn nnx random optimizers tree tree_util"
    wanted = {"bindax", *(f"bindax.{name}" for name in expected.split()[1:])}
    assert wanted | {"bindax.image", "bindax.ops", "bindax.scipy.special"} <= modules
    newer = "sharding export ffi meta profiler debug distributed experimental.sparse"
    assert {f"bindax.{name}" for name in newer.split()} <= modules
