"""Reports on what is installed, what it brings, and what is wrong with it; needed by no program."""

from __future__ import annotations

from typing import Any

from bindax_core._extension_points import runtime
from bindax_core.registry._api import find_primitive
from bindax_core.registry._installed import installed


def installed_plugins() -> list[dict[str, Any]]:
    """One record for each installed plugin; reads metadata, and imports none.

    Each has the keys ``plugin``, ``distribution``, ``version``, ``status`` (available, loaded,
    quarantined, denied, refused or conflict), ``why``, ``module``, ``file``, ``seconds`` and
    ``offers``, the names that it offers by kind.
    """
    from bindax_core.diagnosis import _report

    return _report.plugins_report(installed.resolver)


def container_types() -> list[dict[str, Any]]:
    """One record for each container type that is registered or offered; imports no plugin.

    Each has the keys ``type``, ``status`` (built in, registered, available, quarantined, denied,
    refused or conflict), ``distribution``, ``version``, ``file``, ``line`` and ``why``. Of a type
    that is registered, the place is where that was done; of one that is not loaded yet, the entry
    of the manifest that offers it.

    >>> {record["type"]: record["status"] for record in container_types()}["builtins:dict"]
    'built in'
    """
    from bindax_core.diagnosis import _report

    return _report.containers_report(installed.resolver)


def rule_coverage(name: str) -> dict[str, Any]:
    """Return the rules of a primitive, with the distribution, version, file and line of each.

    Loads the plugin that offers the primitive. The key ``rules`` holds a record for each rule kind,
    with ``kind``, ``platform``, ``status`` (present, derived, absent, elsewhere or missing),
    ``distribution``, ``version``, ``file``, ``line``, ``why`` and ``candidates``: the installed
    distributions that offer rules of the kind.

    Raises:
        PluginError: as ``find_primitive``.
    """
    from bindax_core.diagnosis import _report

    return _report.rules_report(installed.resolver, find_primitive(name))


def diagnose_plugins(*, load: bool = True) -> list[dict[str, Any]]:
    """Return the problems of the installed plugins; an empty list when all is well.

    Each record has the keys ``severity`` (problem or notice), ``subject``, ``text``, ``remedy`` and
    ``traceback``.

    Args:
        load: load every plugin first, to find those that fail.

    >>> isinstance(diagnose_plugins(), list)
    True
    """
    from bindax_core.diagnosis import _doctor

    return _doctor.doctor_report(installed.resolver, load=load)


def _keeper_of(main: Any) -> str:
    from bindax_core.diagnosis._rule_keeps import keeper_of

    return keeper_of(main)


runtime.keeper_of = _keeper_of
