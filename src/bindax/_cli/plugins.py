"""`bindax plugins`: what is installed, and what became of it."""

from __future__ import annotations

from typing import Any

import click

from bindax._cli._output import example, json_option, load_option, print_json, print_table

_SHOWN_NAMES = 8


@click.command(epilog=example("bindax plugins", "bindax plugins --load --json"))
@load_option
@json_option
def plugins(as_json: bool) -> None:
    """List the installed plugins: where they come from, their status, and what they offer.

    Reads package metadata alone. A status is available, loaded, quarantined (it failed to load),
    denied (by settings), refused (written for another plugin API) or conflict (another distribution
    offers the same).
    """
    import bindax_diagnosis

    records = bindax_diagnosis.installed_plugins()
    if as_json:
        print_json(records)
        return
    rows = [
        (
            one["plugin"],
            one["status"],
            f"{one['distribution']}\n{one['version']}",
            "\n".join(filter(None, (one["why"], _offers(one["offers"])))),
        )
        for one in records
    ]
    columns = ("plugin", "status", "distribution", "why, and what it offers")
    print_table(f"{len(records)} plugins", columns, rows)


def _offers(offers: dict[str, Any]) -> str:
    lines = []
    for kind, names in offers.items():
        shown = ", ".join(names[:_SHOWN_NAMES])
        more = f", … ({len(names)} in all)" if len(names) > _SHOWN_NAMES else ""
        lines.append(f"{kind}: {shown}{more}")
    return "\n".join(lines)
