"""`bindax completion SHELL`: have a shell complete commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from bindax._cli._output import Failure, example

_VARIABLE = "_BINDAX_COMPLETE"


@click.command(epilog=example("bindax completion bash >> ~/.bashrc"))
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
def completion(shell: str) -> None:
    """Print a script that makes SHELL complete commands, options and names.

    Append it to ~/.bashrc or ~/.zshrc, or write it to ~/.config/fish/completions/bindax.fish, and
    start a new shell.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise Failure(f"completion: click has no script for {shell}.")
    command = click.get_current_context().find_root().command
    click.echo(kind(command, {}, "bindax", _VARIABLE).source())
