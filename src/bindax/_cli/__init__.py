"""The command ``bindax``.

Commands are imported when they are run, so that ``bindax plugins`` loads no plugin and
``bindax --help`` draws no picture.
"""

from __future__ import annotations

import importlib
from typing import Any

import click

from bindax._cli._output import INTERRUPTED, Failure

_COMMANDS = [
    *("check", "compare", "completion", "containers", "demo", "deploy", "doctor", "inspect"),
    *("mutate", "new-plugin", "plugins", "rules"),
]

_EXIT_CODES = """\b
Exit codes:
  0    done, and nothing is wrong
  1    a check failed, a mistake went unnoticed, or plugins have a problem
  2    the command cannot be run as it was given; the message says why
  130  Ctrl-C was pressed; check and mutate print what they found before
"""


class _LazyGroup(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, sorted."""
        return _COMMANDS

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the module of a command."""
        if name not in _COMMANDS:
            return None
        word = name.replace("-", "_")
        command = getattr(importlib.import_module(f"bindax._cli.{word}"), word)
        return command if isinstance(command, click.Command) else None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error that a user causes is a message and exit code 2."""
        from bindax_core import errors

        try:
            return super().invoke(ctx)
        except errors.BindaxError as error:
            raise Failure(str(error)) from error
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)


_SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True}


@click.group(cls=_LazyGroup, context_settings=_SETTINGS, epilog=_EXIT_CODES)
@click.version_option(package_name="bindax", prog_name="bindax")
def main() -> None:
    """Composable function transformations for Python array programs, built from plugins."""
