"""`bindax containers`: which types are pytree nodes, and who says so."""

from __future__ import annotations

import click

from bindax._cli._output import json_option, place, print_json, print_table


@click.command()
@click.option("--load", is_flag=True, help="Load all plugins first; without, none is imported.")
@json_option
def containers(load: bool, as_json: bool) -> None:
    """List the container types: who registered or offers each one, and where.

    A status is built in, registered, available (its plugin loads when an instance appears),
    quarantined, denied, refused or conflict. Named tuples are containers without registration.
    """
    import bindax_core

    if load:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the table says what failed, and why
            bindax_core.load_plugins()
    records = bindax_core.container_types()
    if as_json:
        print_json(records)
        return
    rows = [(record["type"], record["status"], *place(record), record["why"]) for record in records]
    columns = ("type", "status", "distribution", "registered or offered at", "why")
    print_table(f"{len(records)} container types", columns, rows)
