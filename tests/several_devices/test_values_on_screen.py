"""Arrays on several devices in their forms for notebooks and terminals."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax


def test_a_sharded_array_is_shown_with_its_sharding(on: Any, numbers: Any) -> None:
    page = bindax.device_put(numbers, on("x"))._repr_html_()
    assert "P(&#x27;x&#x27;) on 8 devices · " in page
    assert ", mean " in page
    one = bindax.device_put(numbers, bindax.devices()[1])
    assert "bytes · on cpu:1 · " in one._repr_html_()


def test_a_large_sharded_array_stays_where_it_is(on: Any, monkeypatch: Any) -> None:
    x = bindax.device_put(np.zeros((1024, 1024), np.float32), on("x"))
    monkeypatch.setattr(type(x), "numpy", None)
    page = x._repr_html_()
    assert "<b>float32[1024,1024]</b>" in page
    assert "too large to be brought to the host" in page
