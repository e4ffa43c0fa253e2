"""The command `bindax`: tables fit the terminal, JSON and exit codes, interruption, completion."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from inspect import signature
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

import bindax._cli
from bindax._cli import main

COMMANDS = [
    *("check", "compare", "completion", "containers", "demo", "deploy", "doctor", "inspect"),
    *("mutate", "new-plugin", "plugins", "rules"),
]
TABLES = [["plugins"], ["containers"], ["rules", "sin"], ["rules", "scan"]]
INTERRUPTED = 130


def run(*arguments: str, **variables: str) -> Result:
    return CliRunner(env=variables).invoke(main, arguments)


def run_with_stderr(*arguments: str) -> Result:
    """Run a command with what it writes to both streams kept apart, as click before 8.2 is told."""
    apart: Any = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
    return CliRunner(**apart).invoke(main, arguments)


def lines_on_terminal(width: int, *arguments: str) -> list[str]:
    """The lines that a terminal of some width shows."""
    result = run(*arguments, FORCE_COLOR="1", COLUMNS=str(width), NO_COLOR="", TERM="xterm")
    assert result.exit_code == 0, result.output
    return re.sub(r"\x1b\[[0-9;]*m", "", result.output).splitlines()


def test_all_commands_are_listed() -> None:
    assert main.list_commands(click.Context(main)) == COMMANDS


@pytest.mark.parametrize("arguments", TABLES, ids=" ".join)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_tables_fit_the_terminal(arguments: list[str], width: int) -> None:
    lines = lines_on_terminal(width, *arguments)
    assert max(map(len, lines)) <= width
    if width == 80:
        assert any("bindax-" in line for line in lines)


def test_tables_use_the_width_of_the_terminal() -> None:
    narrow, wide = (lines_on_terminal(width, "plugins") for width in (80, 160))
    assert len(wide) < len(narrow)
    assert max(len(line.rstrip()) for line in wide) > 80


@pytest.mark.parametrize("width", [80, 120])
def test_names_are_not_broken(width: int) -> None:
    text = "\n".join(lines_on_terminal(width, "plugins"))
    for record in bindax.installed_plugins():
        assert record["distribution"] in text
    assert "elementwise/trigonometry.py:" in "\n".join(lines_on_terminal(width, "rules", "sin"))


def test_what_is_no_terminal_gets_a_line_for_each_record() -> None:
    lines = [line.split() for line in run("rules", "sin").output.splitlines() if "impl" in line]
    (words,) = lines
    assert words[:4] == ["impl", "present", "bindax-lax-basic", f"{bindax.__version__};"]
    assert re.fullmatch(r"elementwise/trigonometry\.py:\d+", words[4])


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_and_fits_80_columns(name: str) -> None:
    text = run(name, "--help", COLUMNS="80").output
    assert f"Example:\n    bindax {name}" in text or f"Example:\n  bindax {name}" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "completion"])
def test_each_command_prints_json(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert any("--json" in parameter.opts for parameter in command.params)


@pytest.mark.parametrize(
    "arguments",
    [["containers"], ["demo", "list"], ["plugins"], ["rules", "sin"], ["check", "ffi"]],
    ids=" ".join,
)
def test_json_is_all_that_is_printed(arguments: list[str]) -> None:
    assert json.loads(run(*arguments, "--json").stdout)


def test_files_of_a_new_plugin_as_json(tmp_path: Any) -> None:
    target = tmp_path / "mine"
    found = json.loads(
        run("new-plugin", "bindax-mine", "--directory", str(target), "--json").stdout
    )
    assert (found["directory"], found["module"]) == (str(target), "bindax_mine")
    assert all((target / name).is_file() for name in found["files"])


def test_models_of_the_demo_print_text_alone() -> None:
    result = run("demo", "digits", "--json")
    assert result.exit_code == 2
    assert "--json belongs to the demo without a name, and to `demo list`." in result.output


def test_exit_codes_are_documented() -> None:
    text = run("--help").output
    assert max(map(len, text.splitlines())) <= 80
    assert re.findall(r"^ +(\d+) +\w", text.partition("Exit codes:")[2], re.MULTILINE) == [
        *("0", "1", "2", "130")
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["rules", "sine"], "the primitive 'sine'. Did you mean 'sin'?"),
        (["check", "lax_basics"], "no plugin"),
        (["rules"], "Missing argument 'PRIMITIVE'"),
        (["demo", "--epochs", "0"], "0 is not in the range x>=1"),
        (["demo", "--backend", "tpu"], "'tpu' is not one of"),
        (["plugin"], "No such command 'plugin'"),
        (["inspect", "loss"], "'loss' is no function of a program: write FILE.py:NAME."),
        (["inspect", "none.py:loss"], "there is no file none.py."),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_what_cannot_be_run_ends_with_2(arguments: list[str], text: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert text in result.output


def test_a_failed_check_ends_with_1() -> None:
    assert run("check", "lax_basic", "--budget", "0").exit_code == 1


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch, request: Any) -> Iterator[list[int]]:
    """Have Ctrl-C pressed when a command has told of three cases."""
    module = __import__(f"bindax._cli.{request.param}", fromlist=["_Progress"])
    told: list[int] = []
    tell = module._Progress.tell

    def counted(self: Any, found: Any) -> None:
        tell(self, found)
        told.append(len(told))
        if len(told) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(module._Progress, "tell", counted)
    return told


@pytest.mark.parametrize("interrupted", ["check"], indirect=True)
def test_interrupted_checks_report_what_was_checked(interrupted: list[int]) -> None:
    result = run_with_stderr("check", "ffi", "--json")
    assert result.exit_code == INTERRUPTED
    assert "interrupted: this is what was checked before" in result.stderr
    report = json.loads(result.stdout)
    assert report["interrupted"]
    assert 0 < report["counts"]["cases run"] <= len(interrupted) == 3
    reasons = {one["reason"] for one in report["results"] if one["status"] == "not run"}
    assert reasons == {"not run: it was interrupted"}


@pytest.mark.parametrize("interrupted", ["mutate"], indirect=True)
def test_interrupted_mutation_reports_what_was_tried(interrupted: list[int]) -> None:
    result = run_with_stderr("mutate", "special", "--json", "--seconds", "1")
    assert result.exit_code == INTERRUPTED
    assert "interrupted: this is what was tried before" in result.stderr
    report = json.loads(result.stdout)
    assert report["interrupted"]
    assert len(report["mutants"]) == len(interrupted) == 3


def test_other_commands_are_interrupted_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bindax_diagnosis.installed_plugins", interrupt)
    result = run_with_stderr("plugins")
    assert (result.exit_code, result.stderr) == (INTERRUPTED, "interrupted\n")


def test_a_terminal_shows_how_far_checks_are() -> None:
    result = run("check", "ffi", FORCE_COLOR="1", COLUMNS="80", TERM="xterm")
    assert re.search(r"ffi: \d+ cases, 0 failures", result.output)


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_completion_scripts(shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert f"_BINDAX_COMPLETE={shell}_complete" in result.stdout


@pytest.mark.parametrize(
    ("words", "start", "found"),
    [
        ([], "che", {"check"}),
        (["rules"], "cums", {"cumsum"}),
        (["check"], "lin", {"linalg"}),
        (["mutate"], "lin", {"linalg"}),
        (["demo"], "dig", {"digits"}),
        (["check"], "--bud", {"--budget"}),
    ],
)
def test_names_are_completed(words: list[str], start: str, found: set[str]) -> None:
    completions = ShellComplete(main, {}, "bindax", "_X").get_completions(words, start)
    assert {one.value for one in completions} == found
