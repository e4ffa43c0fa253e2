"""A plugin that fails half-way through its import."""

from bindax_core.extend import Primitive, hookimpl

broken_p = Primitive("example.broken")


@hookimpl
def bindax_primitives() -> list[Primitive]:
    """Never called, because the module does not get that far."""
    return [broken_p]


raise RuntimeError("the example device is not plugged in")
