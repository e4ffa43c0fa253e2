"""Names that a shell completes arguments with, from the metadata of plugins."""

from __future__ import annotations

import click


def plugins(ctx: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """The plugins whose names begin with a text."""
    import bindax_diagnosis

    return _beginning(start, [record["plugin"] for record in bindax_diagnosis.installed_plugins()])


def primitives(ctx: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """The primitives whose names begin with a text."""
    import bindax_diagnosis

    offered = [record["offers"] for record in bindax_diagnosis.installed_plugins()]
    return _beginning(start, [name for one in offered for name in one.get("primitives", ())])


def backends(ctx: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """The backends whose names begin with a text."""
    import bindax_diagnosis

    offered = [record["offers"] for record in bindax_diagnosis.installed_plugins()]
    return _beginning(
        start, ["numpy", *(name for one in offered for name in one.get("backends", ()))]
    )


def models(ctx: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """The example models whose names begin with a text."""
    from bindax.demo import models

    return _beginning(start, ["list", *models.available()])


def _beginning(start: str, names: list[str]) -> list[str]:
    return sorted({name for name in names if name.startswith(start)})
