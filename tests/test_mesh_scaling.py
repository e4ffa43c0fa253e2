"""The record of the search for the best mesh is whole, and what is computed now."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mesh_scaling
import mesh_scaling_page as page
import pytest

import bindax


def test_record_has_each_mesh_once() -> None:
    found = page.record()
    meshes = {one for count in mesh_scaling.DEVICES for one in mesh_scaling.meshes(count)}
    assert sorted((one["data"], one["model"]) for one in found) == sorted(meshes)
    for one in found:
        assert min(one["seconds"].values()) > 0.0
        assert one["fits"] == (one["bytes"] <= 80e9)


def test_best_meshes_get_faster_and_less_efficient() -> None:
    chosen = page.best(page.record())
    assert [page.devices(one) for one in chosen] == list(mesh_scaling.DEVICES)
    speeds = [page.efficiency(one, chosen[0]) for one in chosen]
    assert speeds[0] == 1.0
    assert all(left >= right - 0.01 for left, right in pairwise(speeds))


@pytest.mark.nightly
@pytest.mark.parametrize(("data", "model"), [(16, 1), (32, 8), (512, 8)])
def test_record_is_what_is_computed(data: int, model: int) -> None:
    pytest.importorskip("jaxlib")
    if bindax.default_backend() == "numpy":
        pytest.skip("programs are divided by XLA")
    (known,) = (one for one in page.record() if (one["data"], one["model"]) == (data, model))
    found: dict[str, Any] = mesh_scaling.report(data, model)
    assert found["bytes"] == pytest.approx(known["bytes"], rel=0.1)  # by the release of jaxlib
    for name in ("operations", "sent"):
        assert found[name] == pytest.approx(known[name], rel=0.02)
