"""The pages of operations are those that the definitions of the primitives give."""

from __future__ import annotations

import doctest
import json
import re

import lax_pages
import pytest
import site_pages


@pytest.mark.nightly
def test_pages_have_every_primitive_and_code_that_runs() -> None:
    written = site_pages.pages()
    assert written.keys() == {name for name in site_pages.names() if name.endswith(".md")}
    operations = [text for name, text in written.items() if name.startswith("lax/")]
    text = "\n".join(operations)
    assert all(f"`{name}`" in text for name in lax_pages.declared())
    for page in operations:
        code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        test = doctest.DocTestParser().get_doctest(code, {}, "operations", None, 0)
        assert not doctest.DocTestRunner(optionflags=flags).run(test).failed


def test_record_covers_every_primitive_and_nothing_failed() -> None:
    record = json.loads(lax_pages.RECORD.read_text(encoding="utf-8"))["primitives"]
    assert set(record) == set(lax_pages.declared())
    for name, checks in record.items():
        failed = [
            check
            for check, result in checks.items()
            if str(result).startswith(("failed", "not run"))
        ]
        assert not failed, (name, failed)
        assert lax_pages.passed(checks), name
