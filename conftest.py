"""The share of all tests of the workspace: what runs at night alone, and the answers of JAX.

Ordinary runs leave out tests that are marked ``nightly``, take a part of those marked ``every`` and
cover pairs of arguments of those marked ``pairwise``. With BINDAX_NIGHTLY=1, and for tests that are
named one by one, all of them run. With BINDAX_PART=2/7, the second of seven parts of them runs.
Ordinary runs compile programs quickly, unless XLA_FLAGS says how.
"""

from __future__ import annotations

import gc
import importlib.util
import linecache
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, count
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from _pytest.doctest import DoctestModule

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "scripts"))

import jax_answers as stored_answers  # noqa: E402
import jax_calls  # noqa: E402
from process_state import leaves_no_traces as leaves_no_traces  # noqa: E402

NIGHTLY = bool(os.environ.get("BINDAX_NIGHTLY"))
if not NIGHTLY and stored_answers.VARIABLE not in os.environ:
    # Compiling well takes four times as long. At night it is compiled as it is for users.
    flags = jax_calls.SUITE_COMPILER.items()
    text = " ".join(f"--{name}={str(value).lower()}" for name, value in flags)
    os.environ.setdefault("XLA_FLAGS", text)
finished = count(1)
"""The tests that have run in this process."""
if importlib.util.find_spec("hypothesis"):
    from hypothesis import HealthCheck, Phase, settings

    # How fast examples are made is decided by the machine, and by what else it does. To explain a
    # failure each line is traced: minutes where something is compiled, and Python 3.11 has crashed.
    settings.register_profile(
        "bindax",
        max_examples=100 if NIGHTLY else 30,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        phases=[phase for phase in Phase if phase is not Phase.explain],
    )
    settings.load_profile("bindax")
# Where Python is told to write nothing beside the sources, this and the processes that tests start
# keep what they compile here; to compile all modules in each of them takes minutes.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(ROOT / ".pytest_cache/bytecode")


# What a shell starts in the background ignores Ctrl-C, which tests send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class AnswersOfTest:
    """The questions of a test to JAX, under keys of its own.

    Args:
        answers: those of its file.
        name: the name of the test.
    """

    def __init__(self, answers: stored_answers.Answers, name: str) -> None:
        self.answers = answers
        self.name = name

    def __call__(self, key: str, function: Callable[[Any], Any], *, x64: bool = True) -> Any:
        """One answer.

        Args:
            key: what it is stored under.
            function: takes JAX.
            x64: whether JAX has 64-bit dtypes meanwhile.
        """
        return self.each([key], lambda jax: [function(jax)], x64=x64)[0]

    def each(
        self,
        keys: Iterable[str],
        function: Callable[[Any], Sequence[Any]],
        *,
        x64: bool = True,
        shared: bool = False,
    ) -> list[Any]:
        """Several answers that one function gives; with shared keys, those of the whole file."""

        def compute() -> list[Any]:
            jax: Any = pytest.importorskip("jax")
            with jax.enable_x64(x64), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return [stored_answers.normalized(one) for one in function(jax)]

        return self.answers.each([key if shared else f"{self.name}/{key}" for key in keys], compute)


@pytest.fixture(scope="module")
def _answers_of_file(request: pytest.FixtureRequest) -> Iterator[stored_answers.Answers]:
    mode = os.environ.get(stored_answers.VARIABLE, "stored")
    if mode not in stored_answers.MODES:
        raise pytest.UsageError(f"{stored_answers.VARIABLE} is one of {stored_answers.MODES}")
    answers = stored_answers.Answers(Path(str(request.path)), mode)
    yield answers
    answers.finish()


@pytest.fixture
def jax_answers(
    request: pytest.FixtureRequest, _answers_of_file: stored_answers.Answers
) -> AnswersOfTest:
    """The answers of JAX to this test: stored, or computed where that was asked for."""
    return AnswersOfTest(_answers_of_file, request.node.name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what runs at night alone, and what is in other parts."""
    kept = set(items)
    if not NIGHTLY and not any("::" in argument for argument in config.args):
        families: dict[str, list[pytest.Item]] = {}
        for item in items:
            families.setdefault(item.nodeid.partition("[")[0], []).append(item)
        kept = {item for family in families.values() for item in chosen(family)}
    number, _, of = os.environ.get("BINDAX_PART", "1/1").partition("/")
    kept = {item for item in kept if crc32(item.nodeid.encode()) % int(of) == int(number) - 1}
    left_out = [item for item in items if item not in kept]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item in kept]


def hide_from_collector() -> None:
    """Keep what there is out of sight of the searches for garbage in tests, which take long."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Search once for garbage, and hide the suite: nearly all that is collected stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        hide_from_collector()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[Any]:
    """Look for examples in files that have some: to search a module without any takes time."""
    found = yield
    if file_path.suffix == ".py" and ">>>" not in file_path.read_text(encoding="utf-8"):
        return [one for one in found if not isinstance(one, DoctestModule)]
    return found


def pytest_runtest_logfinish() -> None:
    """Hide what the last hundred tests put into caches."""
    if next(finished) % 100 == 0:
        hide_from_collector()


def pytest_sessionfinish() -> None:
    """Search once for what the last tests left, and spare pytest its ten searches at the end."""
    hide_from_collector()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget the lines of files that doctest would ask for changes of, a thousand each time."""
    if isinstance(item, pytest.DoctestItem):
        linecache.clearcache()


def chosen(family: list[pytest.Item]) -> Iterable[pytest.Item]:
    """The tests of one function that run in an ordinary run."""
    family = [item for item in family if item.get_closest_marker("nightly") is None]
    if not family:
        return family
    every, pairwise = (family[0].get_closest_marker(name) for name in ("every", "pairwise"))
    if every is not None:
        return family[:: every.args[0]]
    return family if pairwise is None else covering(family)


def covering(family: list[pytest.Item]) -> list[pytest.Item]:
    """Few tests among which each pair of arguments occurs that occurs among all."""
    pairs = {item: pairs_of(item) for item in family}
    missing = set().union(*pairs.values())
    found = []
    while missing:
        best = max(family, key=lambda item: len(pairs[item] & missing))
        found.append(best)
        missing -= pairs[best]
    return found or family[:1]


def pairs_of(item: pytest.Item) -> set[Any]:
    """The pairs of arguments that a test is called with."""
    arguments = item.callspec.params  # type: ignore[attr-defined]
    # All tests of a function get the same objects.
    named = [(name, id(arguments[name])) for name in sorted(arguments)]
    return set(combinations(named, 2)) if len(named) > 1 else set(named)
