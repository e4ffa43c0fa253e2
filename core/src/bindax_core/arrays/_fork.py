"""Forks of the process: the child has none of a compiler's threads, so it interprets programs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

from bindax_core._extension_points import runtime
from bindax_core.arrays._executable_cache import executable_cache

_started: list[tuple[Callable[[], None], Callable[[], None]]] = []


def compiler_started(before_fork: Callable[[], None], in_child: Callable[[], None]) -> None:
    """Note that a compiler has started threads, which a forked child would wait for for ever.

    From then on a fork warns, and programs are interpreted in the child.

    Args:
        before_fork: called in the parent before each fork; waits for computations under way.
        in_child: called in the child; makes executables of the parent refuse to run.
    """
    _started.append((before_fork, in_child))


def _before_fork() -> None:
    if not _started or not runtime.has_compiler_threads:
        return
    for wait, _ in _started:
        wait()
    warnings.warn(
        "this process forks after a compiler of bindax has started threads, which the child "
        "lacks: in the child, programs are interpreted by NumPy, which is slower. Start processes "
        'with multiprocessing.get_context("spawn") or "forkserver", or fork before the first '
        "compiled program.",
        RuntimeWarning,
        stacklevel=2,
    )


def _in_child() -> None:
    if not _started or not runtime.has_compiler_threads:
        return
    runtime.has_compiler_threads = False
    executable_cache.clear()
    for _, abandon in _started:
        abandon()


if hasattr(os, "register_at_fork"):
    # Held over the fork, so that no thread that the child lacks holds it there.
    os.register_at_fork(
        before=executable_cache.lock.acquire,
        after_in_parent=executable_cache.lock.release,
        after_in_child=executable_cache.lock.release,
    )
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
