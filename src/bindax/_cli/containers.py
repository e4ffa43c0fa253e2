"""`bindax containers`: which types are pytree nodes, and who says so."""

from __future__ import annotations

import click

from bindax._cli._output import example, json_option, load_option, place, print_json, print_table


@click.command(epilog=example("bindax containers --load"))
@load_option
@json_option
def containers(as_json: bool) -> None:
    """List the container types: who registered or offers each one, and where.

    A status is built in, registered, available (its plugin loads when an instance appears),
    quarantined, denied, refused or conflict. Named tuples are containers without registration.
    """
    import bindax_diagnosis

    records = bindax_diagnosis.container_types()
    if as_json:
        print_json(records)
        return
    rows = [
        (record["type"], record["status"], "\n".join(filter(None, (place(record), record["why"]))))
        for record in records
    ]
    columns = ("type", "status", "registered or offered by")
    print_table(f"{len(records)} container types", columns, rows)
