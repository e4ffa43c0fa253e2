"""The pages of operations are those that the definitions of the primitives give."""

from __future__ import annotations

import json

import comparison_pages
import primitive_facts
import pytest
import site_pages


@pytest.mark.nightly
def test_pages_have_every_primitive() -> None:
    written = site_pages.pages()
    made = {name for name in site_pages.names() if name.endswith(".md")}
    made -= comparison_pages.PAGES.keys()  # which take longer
    assert written.keys() == {name for name in made if not name.startswith("notebooks/")}
    operations = [text for name, text in written.items() if name.startswith("lax/")]
    text = "\n".join(operations)
    assert all(f"`{name}`" in text for name in primitive_facts.declared())


def test_record_covers_every_primitive_and_nothing_failed() -> None:
    record = json.loads(primitive_facts.RECORD.read_text(encoding="utf-8"))["primitives"]
    assert set(record) == set(primitive_facts.declared())
    for name, checks in record.items():
        failed = [
            check
            for check, result in checks.items()
            if str(result).startswith(("failed", "not run"))
        ]
        assert not failed, (name, failed)
        assert primitive_facts.passed(checks), name
