"""Packages above core that provide what used to be a part of it, imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_OF_THE_COMPILER = (
    "compilation_cache_bytes",
    "compilation_cache_dir",
    "num_cpu_devices",
    "platforms",
)
_OF_TRANSFORMATIONS = ("check_tracer_leaks", "debug_infs", "debug_nans")
optional_settings = {
    **dict.fromkeys(_OF_THE_COMPILER, "bindax-xla-backend"),
    **dict.fromkeys(_OF_TRANSFORMATIONS, "bindax-transforms"),
    **dict.fromkeys(("iree_driver", "iree_flags"), "bindax-iree"),
}
"""The settings of packages that may be missing where programs set them, for messages."""


def package_for(use: str, module: str) -> Any:
    """Import a module of the package that something needs.

    Raises:
        ImportError: the package is not installed.

    >>> package_for("The weather", "bindax_weather.forecast")
    Traceback (most recent call last):
    ImportError: The weather needs the package bindax-weather: install it.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        name = package.replace("_", "-")
        message = f"{use} needs the package {name}: install it."
        raise ImportError(message, name=package) from error


def moved_name(module: str, name: str, homes: dict[str, str]) -> Any:
    """The object of a name that has moved to the module that ``homes`` says, or None.

    Args:
        module: the one in which the name is looked up.
        name: the name.
        homes: the modules that hold the names now.
    """
    home = homes.get(name)
    return None if home is None else getattr(package_for(f"{module}.{name}", home), name)
