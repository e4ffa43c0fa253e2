"""Behaviour of bindax by the name ``jax``, beside the stored answers of two releases of JAX."""

from __future__ import annotations

import json
import os
from importlib.metadata import version

import jax_behaviours
import pytest

NIGHTLY = pytest.mark.skipif("BINDAX_NIGHTLY" not in os.environ, reason="takes minutes")


def test_all_answers_are_stored() -> None:
    calls = jax_behaviours.calls()
    assert len(calls) == len(set(calls)) > 400
    for release in jax_behaviours.RELEASES:
        assert list(jax_behaviours.stored(release)) == calls
    page = jax_behaviours.PAGE.read_text(encoding="utf-8")
    changed = jax_behaviours.changed()
    assert len(changed) > 100
    assert all(call.replace("|", "\\|") in page for call in changed)


def test_every_reason_is_of_a_call() -> None:
    calls = jax_behaviours.calls()
    for start, text in jax_behaviours.reasons().items():
        assert any(call.startswith(start) for call in calls), start
        assert text


@NIGHTLY
def test_differences_have_a_reason() -> None:
    table = jax_behaviours.rows()
    assert list(jax_behaviours.unexplained(table)) == []
    assert jax_behaviours.PAGE.read_text(encoding="utf-8") == jax_behaviours.text(table)


@NIGHTLY
def test_stored_answers_are_those_of_the_release() -> None:
    pytest.importorskip("jax")
    release = version("jax")
    if release not in jax_behaviours.RELEASES:
        pytest.skip(f"no answers of JAX {release} are stored")
    live, kept = jax_behaviours.answers("jax"), jax_behaviours.stored(release)
    assert json.dumps(live) == json.dumps(kept)
