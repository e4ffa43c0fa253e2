"""First mistakes of authors of plugins are named with their remedy."""

from __future__ import annotations

from typing import Any

import pytest

from bindax_core.errors import PluginWarning
from bindax_core.registry._loader import QUARANTINED
from bindax_core.registry._manifest import Manifest
from bindax_diagnosis import _doctor, _report

MANIFEST = "[bindax.v1.primitives]\nmine.p = mine:p\n"


def texts(tables: Any) -> str:
    return "\n".join(record["text"] for record in _doctor.doctor_report(tables.resolver))


def test_a_forgotten_marker(site: Any, tables: Any) -> None:
    site.plugin("mine", "def bindax_primitives():\n    return ['mine.p']\n", MANIFEST)

    assert "mine defines 'bindax_primitives' without @hookimpl" in texts(tables)
    assert "mine.p' (" in texts(tables)  # without hooks, the entry should name the primitive
    assert tables.loader.named("mine")[0].status == QUARANTINED


def test_a_misspelt_hook_without_marker(site: Any, tables: Any) -> None:
    site.plugin("mine", "def bindax_primitive():\n    return ['mine.p']\n", MANIFEST)

    found = texts(tables)
    assert "mine defines 'bindax_primitive', which is no hook" in found
    assert "'bindax_primitives' is one" in found


def test_a_misspelt_hook(site: Any, tables: Any) -> None:
    site.plugin("mine", "@hookimpl\ndef bindax_primitves():\n    return ['mine.p']\n", MANIFEST)

    assert (
        "mine defines 'bindax_primitves' with @hookimpl, but there is no such hook: did you mean "
        "'bindax_primitives'?"
    ) in texts(tables)


def test_hooks_and_helpers_that_are_right(site: Any, tables: Any) -> None:
    text = "import bindax_core\np = 1\n@hookimpl\ndef bindax_primitives():\n    return ['mine.p']\n"
    site.plugin("mine", text, MANIFEST)

    assert texts(tables) == ""


SILENT = """
class Silent(Exception):
    def __str__(self):
        raise RuntimeError("no text")
raise Silent()
"""


def test_an_exception_that_cannot_be_printed(site: Any, tables: Any) -> None:
    site.plugin("mine", SILENT, MANIFEST)
    with pytest.warns(PluginWarning, match="could not be loaded"):
        tables.loader.load_all()

    assert tables.loader.named("mine")[0].status == QUARANTINED
    assert "Silent" in texts(tables)
    (record,) = _report.plugins_report(tables.resolver)
    assert "Silent" in record["why"]


@pytest.mark.parametrize("damage", ["[bindax.v1\nmine = mine\n", "[bindax.v1 mine = mine\n"])
def test_a_damaged_manifest(site: Any, damage: str) -> None:
    site.distribution("mine-dist", damage)

    problems = Manifest([str(site.directory)]).problems
    assert any("is damaged: it should be a group" in one.text for one in problems)


def test_an_import_that_is_not_declared(site: Any, tables: Any) -> None:
    site.plugin("mine", "import bindax_core\nimport bindax_lax_basic\n", "")
    metadata = site.directory / "mine_dist-1.0.dist-info" / "METADATA"
    metadata.write_text(
        metadata.read_text(encoding="utf-8") + "Requires-Dist: bindax-core\n", encoding="utf-8"
    )
    site.distribution("bindax-lax-basic", "")

    found = texts(tables)
    assert "imports bindax-lax-basic" in found
    assert "mine.py:3" in found
    assert "imports bindax-core" not in found
