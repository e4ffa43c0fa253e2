"""The public module paths and names of JAX, as ``scripts/jax_names.py`` found them in releases."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from bindax_core import config


def jax_release() -> str:
    """The release of JAX that the alias says it is."""
    found: str = config.jax_release
    return found


def release_numbers() -> tuple[int, ...]:
    """The numbers of that release."""
    return tuple(int(part) for part in jax_release().split("."))


@cache
def known_names() -> dict[str, frozenset[str]]:
    """The names of each public module of JAX, by path."""
    lines = Path(__file__).with_name("names.txt").read_text(encoding="utf-8").splitlines()
    table = {}
    for line in lines[1:]:
        path, _, names = line.partition(":")
        table[path] = frozenset(names.split())
    return table


@cache
def submodules() -> dict[str, frozenset[str]]:
    """For each public module of JAX, the names of the modules inside it."""
    inside: dict[str, set[str]] = {path: set() for path in known_names()}
    for path in known_names():
        parent, _, name = path.rpartition(".")
        if parent:
            inside[parent].add(name)
    return {path: frozenset(names) for path, names in inside.items()}
