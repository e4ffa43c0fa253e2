"""Versions, primitives and classes of the distributions that a text names."""

from __future__ import annotations

import re

from bindax_core.errors import JaxprTextError, PluginError
from bindax_core.extend import Primitive, find_declared, find_distribution, load_distribution
from bindax_text._forms import TextForm, find_form

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
    found = find_distribution(name)
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
        load_distribution(name)
    except PluginError as error:
        raise JaxprTextError(f"the program needs the distribution {name}: {error}") from error


def find_primitive(distribution: str, name: str) -> Primitive:
    """The primitive of a name that a distribution declares."""
    found = find_declared(distribution, name)
    if found is None:
        raise _missing(distribution, f"primitive {name!r}")
    return found


def require_form(distribution: str, name: str) -> TextForm:
    """The text form of a name that a distribution declares."""
    found = find_form(distribution, name)
    if found is None:
        raise _missing(distribution, f"class {name!r} with a text form")
    return found


def _missing(distribution: str, what: str) -> JaxprTextError:
    found = find_distribution(distribution)
    return JaxprTextError(f"{distribution if found is None else found.label} has no {what}")
