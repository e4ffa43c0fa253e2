"""The functions that users call: reports on what is installed, what it brings and what is wrong."""

from __future__ import annotations

from typing import Any

from bindax_core import find_primitive
from bindax_core.plugins import installed
from bindax_diagnosis._doctor import doctor_report
from bindax_diagnosis._report import containers_report, plugins_report, rules_report


def installed_plugins() -> list[dict[str, Any]]:
    """One record for each installed plugin; reads metadata, and imports none.

    Each has the keys ``plugin``, ``distribution``, ``version``, ``status`` (available, loaded,
    quarantined, denied, refused or conflict), ``why``, ``module``, ``file``, ``seconds`` and
    ``offers``, the names that it offers by kind.
    """
    return plugins_report(installed.resolver)


def container_types() -> list[dict[str, Any]]:
    """One record for each container type that is registered or offered; imports no plugin.

    Each has the keys ``type``, ``status`` (built in, registered, available, quarantined, denied,
    refused or conflict), ``distribution``, ``version``, ``file``, ``line`` and ``why``. Of a type
    that is registered, the place is where that was done; of one that is not loaded yet, the entry
    of the manifest that offers it.

    >>> {record["type"]: record["status"] for record in container_types()}["builtins:dict"]
    'built in'
    """
    return containers_report(installed.resolver)


def rule_coverage(name: str) -> dict[str, Any]:
    """Return the rules of a primitive, with the distribution, version, file and line of each.

    Loads the plugin that offers the primitive. The key ``rules`` holds a record for each rule kind,
    with ``kind``, ``platform``, ``status`` (present, derived, absent, elsewhere or missing),
    ``distribution``, ``version``, ``file``, ``line``, ``why`` and ``candidates``: the installed
    distributions that offer rules of the kind.

    Raises:
        PluginError: as ``find_primitive``.
    """
    return rules_report(installed.resolver, find_primitive(name))


def diagnose_plugins(*, load: bool = True) -> list[dict[str, Any]]:
    """Return the problems of the installed plugins; an empty list when all is well.

    Each record has the keys ``severity`` (problem or notice), ``subject``, ``text``, ``remedy`` and
    ``traceback``.

    Args:
        load: load every plugin first, to find those that fail.

    >>> isinstance(diagnose_plugins(), list)
    True
    """
    return doctor_report(installed.resolver, load=load)
