"""Versions, primitives and classes of the distributions that a text names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from bindax_core.errors import JaxprTextError, PluginError
from bindax_core.kernel._primitives_by_name import declared_primitives
from bindax_core.registry._installed import installed
from bindax_core.registry._manifest import manifest
from bindax_core.registry._provenance import distribution_of
from bindax_core.text._forms import TextForm, forms_named

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

_Declared = TypeVar("_Declared", "Primitive", TextForm)

_RELEASE = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})*")


def is_compatible(written: str, installed: str) -> bool:
    """Tell whether what one version of a distribution wrote can be read with another.

    >>> is_compatible("1.2.0", "1.10"), is_compatible("1.2", "2.0"), is_compatible("0.1.3", "0.2")
    (True, False, False)
    """
    if written == installed:
        return True
    old, new = _release(written), _release(installed)
    if not old or not new:
        return False
    lead = next((i for i, number in enumerate(old) if number), len(old))
    return old[: lead + 1] == new[: lead + 1] and old <= new


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version without what follows them, as many as old ones need; or none."""
    found = _RELEASE.match(version)
    numbers = [] if found is None else [int(number) for number in found[0].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def require(name: str, version: str, any_version: bool) -> None:
    """Load the plugins of a distribution, which has to be installed in a compatible version."""
    found = manifest().distributions.get(name)
    if found is None:
        raise JaxprTextError(
            f"the program needs the distribution {name} {version}, which is not installed"
        )
    if not any_version and not is_compatible(version, found.version):
        raise JaxprTextError(
            f"the program was written with {name} {version}, and {found.version} is installed, "
            f"which is not compatible: install {name}=={version} or write the program anew; "
            f"any_version=True reads it all the same"
        )
    try:
        installed.resolver.load_distribution(name)
    except PluginError as error:
        raise JaxprTextError(f"the program needs the distribution {name}: {error}") from error


def find_primitive(distribution: str, name: str) -> Primitive:
    """The primitive of a name that a distribution declares."""
    return _declared_by(distribution, declared_primitives.get(name, ()), f"primitive {name!r}")


def find_form(distribution: str, name: str) -> TextForm:
    """The text form of a name that a distribution registers."""
    return _declared_by(distribution, forms_named(name), f"class {name!r} with a text form")


def _declared_by(distribution: str, declared: Iterable[_Declared], what: str) -> _Declared:
    for one in declared:
        owner = distribution_of(one.site.module)
        if owner is not None and owner.name == distribution:
            return one
    raise JaxprTextError(f"{manifest().distributions[distribution].label} has no {what}")
