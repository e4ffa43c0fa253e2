"""`bindax rules PRIMITIVE`: which rules a primitive has, and who gave them."""

from __future__ import annotations

from typing import Any

import click

from bindax._cli import _complete
from bindax._cli._output import example, json_option, place, print_json, print_table


@click.command(epilog=example("bindax rules sin", "bindax rules scan --json"))
@click.argument("primitive", shell_complete=_complete.primitives)
@click.option(
    "--package", help="A package written for JAX to import first, as by bindax.jax_names."
)
@json_option
def rules(primitive: str, package: str | None, as_json: bool) -> None:
    """Show the rules of PRIMITIVE: from which distribution, version, file and line.

    Loads the plugin that offers the primitive. Rules that are absent, and those that other
    installed distributions could bring, are listed with the reason and the candidates.
    """
    import bindax_diagnosis

    if package is not None:
        from bindax.jax_names import import_package

        import_package(package)
    report = bindax_diagnosis.rule_coverage(primitive)
    if as_json:
        print_json(report)
        return
    rows = []
    for record in report["rules"]:
        platform = record["platform"]
        kind = record["kind"] if platform is None else f"{record['kind']} ({platform})"
        text = "\n".join(filter(None, (place(record), _why(record))))
        rows.append((kind, record["status"], text))
    title = f"{primitive}: {', '.join(place(report).splitlines()) or 'no installed distribution'}"
    print_table(title, ("rule", "status", "declared by, or why there is none"), rows)


def _why(record: dict[str, Any]) -> str:
    parts = [record["why"]] if record["why"] else []
    if record["candidates"]:
        parts.append("candidates: " + ", ".join(record["candidates"]))
    return "; ".join(parts)
