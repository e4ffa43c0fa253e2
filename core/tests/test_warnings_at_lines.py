"""Warnings name the line of the user's program."""

from __future__ import annotations

import pytest

from bindax_core.extend import warn_user


def test_code_without_a_module_is_warned() -> None:
    code = compile("\nwarn_user('look here', FutureWarning)", "cell", "exec")
    with pytest.warns(FutureWarning, match=r"^look here$") as caught:
        exec(code, {"warn_user": warn_user})
    assert [(w.filename, w.lineno) for w in caught] == [("cell", 2)]
