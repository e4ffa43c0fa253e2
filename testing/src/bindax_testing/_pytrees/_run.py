"""Checks that a container type keeps the contract of pytree nodes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from bindax_testing._compare import Mismatch, NotApplicable
from bindax_testing._pytrees import _instance_checks as instances
from bindax_testing._pytrees import _metadata_checks as metadata
from bindax_testing._pytrees._nodes import Node, described, nodes_of, qualified
from bindax_testing._pytrees._report import PyTreeCheck, PyTreeReport, PyTreeStatus

_Check: TypeAlias = Callable[[Node], None]


class _Planned(NamedTuple):
    name: str
    run: _Check
    needs: tuple[str, ...] = ("flatten",)
    """The checks that must have passed for this one to mean something."""


_COMPARING = ("flatten", "metadata == and hash")
_REBUILDING = (*_COMPARING, "round trip")

_PLAN = (
    _Planned("flatten", metadata.check_flatten, ()),
    _Planned("metadata == and hash", metadata.check_metadata),
    _Planned("metadata by content", metadata.check_metadata_content, _COMPARING),
    _Planned("keys", metadata.check_keys, _COMPARING),
    _Planned("paths", metadata.check_paths, _COMPARING),
    _Planned("round trip", instances.check_round_trip, _COMPARING),
    *(
        _Planned(f"unflatten with {name}", partial(instances.check_stand_ins, name))
        for name in instances.STAND_INS
    ),
    _Planned("unflatten with tracers", instances.check_tracers),
    _Planned("unflatten with nodes of its own type", instances.check_nested),
    _Planned("independent instances", instances.check_independence, _REBUILDING),
    _Planned("structure == and hash", instances.check_structure, _COMPARING),
    _Planned("pickled structure", instances.check_pickled_structure, _COMPARING),
    _Planned("pickle", instances.check_pickle, _COMPARING),
    _Planned("copy", partial(instances.check_duplicate, copy.copy, "copy.copy"), _COMPARING),
    _Planned(
        "deepcopy", partial(instances.check_duplicate, copy.deepcopy, "copy.deepcopy"), _COMPARING
    ),
)

CHECKS = tuple(planned.name for planned in _PLAN)
"""The names of the checks."""


def check_pytree(
    *examples: Any, expected_failures: Mapping[str, str] | None = None
) -> PyTreeReport:
    """Check the definitions of all registered container types that occur in examples.

    Built-in containers in the examples are looked into, and not checked. Each check that fails
    says type, path and what to do; one that depends on a failed one is skipped.

    Args:
        examples: instances, with whatever is usual in them, or pytrees that hold instances.
        expected_failures: from names of checks to the reason why they are known to fail; one that
            passes all the same is a failure.

    Returns:
        The report; ``report.ok``, ``report.failures`` and ``report.raise_if_failed()`` tell the
        result, ``print(report)`` what is wrong, ``report.as_dict()`` everything, as plain data.

    Raises:
        ValueError: a name in ``expected_failures`` is not the name of a check.

    >>> from bindax_core.tree_util import NodeDefinition, scoped_registration
    >>> class Named:
    ...     def __init__(self, content, name):
    ...         self.content, self.name = content, name
    >>> definition = NodeDefinition(
    ...     Named, lambda n: ((n.content,), [n.name]), lambda data, xs: Named(*xs, data[0])
    ... )
    >>> with scoped_registration(definition):
    ...     report = check_pytree(Named(1.0, "a"))
    >>> [failure.check for failure in report.failures]
    ['metadata == and hash']
    >>> print(report.failures[0].reason)
    metadata, ['a'] of type list, cannot be hashed (TypeError: unhashable type: 'list')...
    """
    expected = dict(expected_failures or {})
    unknown = sorted(set(expected) - set(CHECKS))
    if unknown:
        raise ValueError(f"There are no checks {unknown}; the checks are {list(CHECKS)}.")
    results = [
        result
        for example in examples
        for node in nodes_of(example)
        for result in _run(node, expected)
    ]
    if not results:
        kinds = sorted({qualified(type(example)) for example in examples})
        reason = (
            "the examples hold no node of a registered type, so that nothing was checked. Register "
            "the type first, and pass an instance of it."
        )
        listed = ", ".join(kinds) or "no example"
        results = [PyTreeCheck("has nodes", listed, "", "failed", reason)]
    return PyTreeReport(tuple(results))


def _run(node: Node, expected: Mapping[str, str]) -> list[PyTreeCheck]:
    results: dict[str, PyTreeCheck] = {}
    for name, run, needs in _PLAN:
        missing = [need for need in needs if results[need].status != "passed"]
        status: PyTreeStatus = "skipped"
        if missing:
            reason = f"it needs the check {missing[0]!r} to pass"
        else:
            status, reason = _outcome(run, node, expected.get(name))
        results[name] = PyTreeCheck(name, node.name, node.where, status, reason)
    return list(results.values())


def _outcome(run: _Check, node: Node, excuse: str | None) -> tuple[PyTreeStatus, str]:
    try:
        run(node)
    except NotApplicable as skipped:
        return "skipped", str(skipped)
    except Mismatch as failed:
        reason = str(failed)
    except Exception as error:  # what the definition raises where no check expected it
        reason = f"It raised {described(error)}."
    else:
        if excuse is None:
            return "passed", ""
        reason = f"It was expected to fail ({excuse}), and passed. Do not expect it any longer."
        return "failed", reason
    return ("failed", reason) if excuse is None else ("expected failure", f"{excuse}. {reason}")
