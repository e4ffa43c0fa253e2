"""The warning about functions that ``jit`` compiles again and again."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
from bindax.errors import RecompilationWarning
from bindax_transforms.compilation import recompilation
from bindax_transforms.compilation.call_differences import ordinal
from bindax_transforms.compilation.recompilation import CALLS_OF_EACH, MOST_FUNCTIONS, MOST_PROGRAMS

pytestmark = pytest.mark.usefixtures("interpreted")
MANY = MOST_PROGRAMS + 1
TIMES = f"for the {MANY}th time, in {MANY} calls:\n"


@pytest.fixture
def interpreted() -> Any:
    """Evaluate by NumPy, which takes as many programs and less time."""
    with bindax.config.override(backend="numpy"):
        yield


def ones(n: int) -> Any:
    return np.ones(n, np.float32)


def place(function: Any) -> str:
    return f"{function.__name__} ({__file__}:{function.__code__.co_firstlineno})"


def warned(calls: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        calls()
    assert {w.category for w in caught} <= {RecompilationWarning}
    assert {w.filename for w in caught} <= {__file__}
    return [str(w.message) for w in caught]


def scaled(w: Any, x: Any, n: Any = 1) -> Any:
    return w * x * n


def test_many_sizes() -> None:
    f = bindax.jit(scaled)
    message = (
        f"jit compiles {place(scaled)} {TIMES}"
        f"  x['a']: float32[{MANY - 1}] -> float32[{MANY}]; the {MANY}th size\n"
        f"  Pad x['a'] to few sizes, such as powers of two, and mask what was added; or cut it "
        f"into pieces of one size, and map over them with vmap."
    )
    first = bindax.jit(lambda w, x: f(w, x["a"]))  # inside of a program nothing is compiled
    assert [m.partition("\n")[2] for m in warned(lambda: sizes(first, 1, 60))] == [
        message.partition("\n")[2]
    ]
    assert warned(lambda: sizes(first, 60, 90)) == []  # once


def sizes(f: Any, first: int, last: int) -> None:
    for n in range(first, last):
        f(2.0, {"a": ones(n)})


def test_an_allowed_number_of_sizes() -> None:
    f = bindax.jit(lambda x: x)
    assert warned(lambda: [f(ones(n)) for n in range(MOST_PROGRAMS)]) == []


def test_sizes_that_are_called_often() -> None:
    f = bindax.jit(lambda x: x)
    calls = [ones(n) for n in range(2 * MANY) for _ in range(CALLS_OF_EACH + 1)]
    assert warned(lambda: list(map(f, calls))) == []


def test_caches_that_are_cleared() -> None:
    f = bindax.jit(lambda x: x)

    def calls() -> None:
        for _ in range(2 * MANY):
            f(1.0)
            f.clear_cache()

    assert warned(calls) == []


def test_many_types() -> None:
    f = bindax.jit(lambda x: x)
    dtypes = [np.dtype(f"{'<'}{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
    calls = [np.ones((1,) * n, dtype) for n in range(4) for dtype in dtypes]
    (message,) = warned(lambda: list(map(f, calls)))
    assert f"\n  x: uint64[1,1] -> int8[1,1,1]; the {MANY}th type\n" in message
    assert message.endswith("\n  Convert x to one dtype before the call.")


def test_many_static_values() -> None:
    f = bindax.jit(scaled, static_argnums=2)
    g = bindax.jit(scaled, static_argnames="n")
    wanted = (
        f"jit compiles {place(scaled)} {TIMES}"
        f"  static argument n has been {MANY} different values: {MANY - 2} -> {MANY - 1}\n"
        f"  Take it out of static_argnums and static_argnames, unless a shape depends on it."
    )
    assert warned(lambda: [f(1.0, 2.0, n) for n in range(MANY)]) == [wanted]
    assert warned(lambda: [g(1.0, 2.0, n=n) for n in range(MANY)]) == []  # the same function
    h = bindax.jit(lambda n, x: x * n, static_argnums=0)
    (message,) = warned(lambda: [h(n, 2.0) for n in range(MANY)])
    assert f"\n  static argument n has been {MANY} different values" in message


def test_static_functions_that_are_new_each_time() -> None:
    f = bindax.jit(lambda x, act: act(x), static_argnums=1)
    made: list[Any] = []

    def calls() -> None:
        for _ in range(MANY):
            made.append(lambda x: x)
            f(1.0, made[-1])

    (message,) = warned(calls)
    assert message.endswith(
        f"{TIMES}  static argument act is a new {place(made[0])} at each call; the {MANY}th\n"
        f"  Define <lambda> once, outside of the loop."
    )


class Config:
    width = 3


@dataclass(frozen=True)
class Frozen:
    width: int = 3


def test_static_objects_that_are_equal_to_themselves_alone() -> None:
    f = bindax.jit(lambda x, config: x * config.width, static_argnames="config")
    (message,) = warned(lambda: [f(1.0, config=Config()) for _ in range(MANY)])
    assert message.endswith(
        f"{TIMES}  static argument config is a new Config at each call; the {MANY}th\n"
        f"  Config has no __eq__, so that each one is another value: pass the same one, or make "
        f"the class a frozen dataclass."
    )
    assert warned(lambda: [f(1.0, config=Frozen()) for _ in range(MANY)]) == []


@pytest.mark.parametrize(
    ("wrap", "x"), [(lambda f: f, 1.0), (bindax.grad, 1.0), (lambda f: partial(f), ones(2))]
)
def test_functions_that_are_new_at_each_call(wrap: Any, x: Any) -> None:
    def calls() -> None:
        for n in range(2 * MOST_FUNCTIONS):
            bindax.jit(wrap(lambda x, n=n: x * (n + 0.5)))(x)
            gc.collect(0)  # without a global lock, functions go with a collection

    line = calls.__code__.co_firstlineno + 2
    message = (
        f"jit compiles <lambda> ({__file__}:{line}) for the {MOST_FUNCTIONS + 1}th time: it is a "
        f"new function at each call, so that what was compiled is never found again. Make the "
        f"function once, outside of the loop, and jit it there; pass as arguments what it closes "
        f"over."
    )
    assert warned(calls) == [message]


def test_functions_that_are_kept_or_called_often() -> None:
    kept = []

    def several() -> None:
        for _ in range(MOST_FUNCTIONS + 9):
            kept.append(bindax.jit(lambda x: x))
            kept[-1](1.0)

    def often() -> None:
        for _ in range(MOST_FUNCTIONS + 9):
            f = bindax.jit(lambda x: x)
            for _ in range(CALLS_OF_EACH + 1):
                f(1.0)

    def different() -> None:
        for n in range(MOST_FUNCTIONS + 9):
            bindax.jit(lambda x: x)(ones(n))

    assert warned(several) == warned(often) == warned(different) == []


def test_structures() -> None:
    f = bindax.jit(lambda s, *rest, **named: s)
    (message,) = warned(lambda: [f({"a": {f"k{n}": 1.0}}) for n in range(MANY)])
    last = f"the {MANY}th structure of the arguments\n"
    advice = (
        "  Keep the structure: what changes belongs into arrays, and not into the keys of a dict, "
        "the lengths of lists or the metadata of a class."
    )
    keys = f"s['a']: the keys are ['k{MANY - 1}'], where they were ['k{MANY - 2}']"
    assert message.endswith(f"{TIMES}  {keys}; {last}{advice}")
    f = bindax.jit(lambda s, *rest, **named: s)
    (message,) = warned(lambda: [f((1.0, [2.0] * n)) for n in range(MANY)])
    assert f"  s[1] has {MANY - 1} elements, where it had {MANY - 2}; {last}" in message
    f = bindax.jit(lambda s, *rest, **named: s)
    (message,) = warned(lambda: [f(*[2.0] * n) for n in range(1, 1 + MANY)])
    assert f"  {MANY} positional arguments, where there were {MANY - 1}; {last}" in message
    f = bindax.jit(lambda s, *rest, **named: s)
    (message,) = warned(lambda: [f(1.0, **{f"k{n}": 1.0}) for n in range(MANY)])
    assert f"  the arguments by name: the keys are ['k{MANY - 1}'], where they we" in message


def test_many_leaves_that_change() -> None:
    f = bindax.jit(lambda xs: xs)
    (message,) = warned(lambda: [f([ones(n)] * 50) for n in range(MANY)])
    assert len(message.splitlines()) == 6
    assert "\n  xs[2]: " in message
    assert "\n  and 47 others\n" in message


@bindax.tree_util.register_dataclass
@dataclass
class Checked:
    x: Any

    def __post_init__(self) -> None:
        if not hasattr(self.x, "sum"):
            raise TypeError("not an array")


def test_containers_that_refuse_what_is_no_array() -> None:
    f = bindax.jit(lambda s: s.x)
    (message,) = warned(lambda: [f(Checked(ones(n))) for n in range(MANY)])
    assert f"float32[{MANY - 2}] -> float32[{MANY - 1}]; the {MANY}th size\n" in message


def test_settings_that_change() -> None:
    f = bindax.jit(lambda x: x)

    def calls() -> None:
        for n in range(MANY):
            with bindax.config.override(numpy_rank_promotion=("allow", "warn", "raise")[n % 3]):
                f(ones(n // 3))

    (message,) = warned(calls)
    assert "  x: float32[7] -> float32[8]; the 9th size\n" in message


def test_methods_of_new_objects() -> None:
    class Model:
        @partial(bindax.jit, static_argnums=0)
        def apply(self, x: Any) -> Any:
            return x

    (message,) = warned(lambda: [Model().apply(1.0) for _ in range(MANY)])
    assert "  static argument self is a new Model at each call; " in message


def test_an_error_if_warnings_are() -> None:
    f = bindax.jit(lambda x: x)
    with pytest.raises(RecompilationWarning, match=r"^jit compiles <lambda> "):
        _ = [f(ones(n)) for n in range(MANY)]
    assert f(ones(MANY - 1)).shape == (MANY - 1,)


def test_threads() -> None:
    f = bindax.jit(lambda x: x)

    def some(k: int) -> None:
        with bindax.config.override(backend="numpy"):
            for n in range(MANY):
                f(ones(2 * n + k))

    def calls() -> None:
        threads = [threading.Thread(target=some, args=(k,)) for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert 1 <= len(warned(calls)) <= 2


def test_functions_of_packages_are_left_out() -> None:
    f = bindax.jit(ordinal, static_argnums=0)
    with pytest.raises(TypeError, match="ordinal"):  # a text is no array
        f(1)
    g = bindax.jit(bindax.tree.leaves)
    assert warned(lambda: [g(ones(n)) for n in range(MANY)]) == []


def test_a_new_function_is_explained(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "bindax"), bindax.explain_cache_misses():
        for _ in range(3):
            bindax.jit(lambda x: x - 1.0)(1.0)
            gc.collect(0)
    whys = [record.getMessage().partition(" is traced: ")[2] for record in caplog.records]
    gone = "no call of it is known; it is a new function, and {} that were made there are gone."
    assert whys == ["no call of it is known.", gone.format(1), gone.format(2)]


def test_a_function_that_outlives_the_modules_ends_quietly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = bindax.jit(lambda x: x)
    f(1.0)
    monkeypatch.setattr(recompilation, "CALLS_OF_EACH", None)
    del f
    gc.collect()


@pytest.mark.nightly
def test_a_program_ends_quietly(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import bindax\nkept = [bindax.jit(lambda x: x) for _ in range(3)]\nfor f in kept: f(1.0)\n"
    )
    done = subprocess.run(
        [sys.executable, program],
        env={"BINDAX_BACKEND": "numpy"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout + done.stderr == ""
