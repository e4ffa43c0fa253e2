"""`bindax doctor`: what is wrong with the installation, and what to do about it."""

from __future__ import annotations

import sys

import click

from bindax._cli._output import STYLES, console, example, json_option, print_json


@click.command(epilog=example("bindax doctor"))
@json_option
def doctor(as_json: bool) -> None:
    """Load every plugin and report problems, each with its traceback and the remedy.

    The exit code is 1 when there are problems; notices do not count.
    """
    import bindax_diagnosis
    from bindax_core.extend import fast_paths

    records = bindax_diagnosis.diagnose_plugins()
    problems = [record for record in records if record["severity"] == "problem"]
    if as_json:
        print_json(records)
    else:
        from rich.text import Text

        out = console()
        for record in records:
            style = STYLES[record["severity"]]
            head = Text.assemble((f"{record['severity']}: ", style), (record["subject"], "bold"))
            out.print(head)
            out.print(Text(f"  {record['text']}"))
            out.print(Text(f"  remedy: {record['remedy']}"))
            for line in record["traceback"].splitlines():
                out.print(Text(f"  | {line}", style="dim"))
        count = len(bindax_diagnosis.installed_plugins())
        verdict = f"{len(problems)} problems" if problems else "no problems"
        out.print(Text(f"{count} plugins, {verdict}", style="red" if problems else "green"))
        provider = fast_paths.provider
        out.print(Text(f"calls and pytrees: {f'in C, by {provider}' if provider else 'in Python'}"))
    if problems:
        sys.exit(1)
