"""The page of backends is what the records say, and these are about all primitives."""

from __future__ import annotations

from typing import Any

import backend_pages
import pytest

from bindax_diagnosis import installed_plugins
from bindax_testing import check_backend

RECORDS = {record["backend"]: record for record in backend_pages.records()}


def declared() -> set[str]:
    offers = [record["offers"].get("primitives", ()) for record in installed_plugins()]
    return {name for names in offers for name in names}


def test_the_page_is_what_the_records_say() -> None:
    assert backend_pages.page() == backend_pages.PAGE.read_text(encoding="utf-8")
    assert RECORDS.keys() >= {"numpy", "xla"}


@pytest.mark.parametrize("name", RECORDS)
def test_records_have_every_primitive_and_nothing_failed(name: str) -> None:
    record = RECORDS[name]
    assert declared() <= set(record["matrix"])
    outcomes = [cell["status"] for row in record["matrix"].values() for cell in row.values()]
    outcomes += record["checks"].values()
    assert all(one.startswith(("passed", "skipped: ")) for one in outcomes)
    assert record["checks"]["programs: generated programs"].startswith("passed")


@pytest.mark.parametrize("name", RECORDS)
def test_distances_are_within_what_is_allowed(name: str) -> None:
    matrix, stated = RECORDS[name]["matrix"], RECORDS[name].get("differences", {})
    cells = [(f"{one} {dtype}", cell) for one, row in matrix.items() for dtype, cell in row.items()]
    measured = [cell for which, cell in cells if "units" in cell and which not in stated]
    assert measured
    assert all(cell["conditioned"] <= cell["allowed"] for cell in measured)


def test_a_record_does_not_depend_on_the_day() -> None:
    report = check_backend("numpy", primitives=["neg"], checks=["float32", "int32"])
    record: dict[str, Any] = backend_pages.record_of(report)
    cell = {"status": "passed", "kind": "exact", "units": 0.0, "conditioned": 0.0, "allowed": 0.0}
    cases = record["matrix"]["neg"]["int32"]["cases"]

    assert record["matrix"]["neg"]["int32"] == {**cell, "cases": cases}
    assert record["unsupported"] == {}
    assert record["differences"] == {}


def test_stated_differences_are_on_the_page() -> None:
    how = "of two infinities it is nan"
    record = {**RECORDS["numpy"], "differences": {"atan2 float32: special values": how}}
    assert f"| `atan2 float32: special values` | {how} |" in backend_pages.section(record)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["numpy", "xla"])
def test_installed_backends_pass(name: str) -> None:
    if name == "xla":
        pytest.importorskip("jaxlib", reason="the compiler of the backend")
    report = check_backend(name, programs=300, budget=3000.0)

    assert report.ok, str(report)
    assert not report.unsupported


@pytest.mark.nightly
def test_collectives_of_eight_devices_pass(eight_devices: Any) -> None:
    checks = ["collectives", "buffers", "donation", "layouts", "errors", "threads"]
    report = check_backend(eight_devices.name, checks=checks)

    assert report.ok, str(report)
    assert not report.of_status("skipped")
