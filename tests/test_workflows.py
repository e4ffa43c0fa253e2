"""The workflows give no more rights than they need, and run what was looked at."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
CHECKOUT = re.compile(r"uses: actions/checkout@.*\n +with:\n +persist-credentials: false\n")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_rights_are_given_job_by_job(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "\npermissions: {}\n" in text
    assert text.count("permissions:") == 1 + len(re.findall(r"^  \w+:$", jobs(text), re.MULTILINE))
    assert set(re.findall(r"^ +([\w-]+): write\b", text, re.MULTILINE)) <= {"id-token"}
    assert "secrets." not in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_leave_no_credentials(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for action in re.findall(r"uses: (\S+)", text):
        assert action.startswith("./") or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
    assert len(CHECKOUT.findall(text)) == text.count("uses: actions/checkout@")


def jobs(text: str) -> str:
    return text.partition("\njobs:\n")[2]


def test_the_workflows_that_contributing_names_are_there() -> None:
    assert {path.stem for path in WORKFLOWS} == {"nightly", "publish", "tests", "wheels"}


def test_hooks_use_the_tools_of_the_environment() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"^ +entry: (.*)$", text, re.MULTILINE)
    assert entries
    assert all(entry.startswith("uv run ") for entry in entries)
    assert text.count("language: system") == len(entries)
