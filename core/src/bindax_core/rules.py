"""The rule kinds: those of the kernel and of arrays, and those that installed packages declare.

A package declares a kind as an entry in the group ``bindax.v1.rule_kinds``; the first use of its
name imports it. Kinds that every definition of a primitive must mention stand in the group
``bindax.v1.canonical_rule_kinds``.

>>> from bindax_core import rules
>>> rules.jvp
RuleKind('jvp')
"""

import typing as _typing

from bindax_core._extension_points import runtime as _runtime
from bindax_core.arrays._rules import expansion as expansion
from bindax_core.arrays._rules import impl as impl
from bindax_core.arrays._rules import lowering as lowering
from bindax_core.arrays._rules import stablehlo as stablehlo
from bindax_core.arrays.sharding._rules import sharding as sharding
from bindax_core.errors import missing_attribute as _missing_attribute
from bindax_core.kernel._effects import Effect as Effect
from bindax_core.kernel._effects import effects as effects
from bindax_core.kernel._rules import Rule as _Rule
from bindax_core.kernel._rules import RuleKind as _RuleKind
from bindax_core.kernel._rules import abstract_eval as abstract_eval
from bindax_core.kernel._rules import pretty_print as pretty_print
from bindax_core.kernel._rules import typecheck as typecheck

if _typing.TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive as _Primitive

    dce: _RuleKind
    jvp: _RuleKind
    partial_eval: _RuleKind
    partial_eval_jaxpr: _RuleKind
    physical: _RuleKind
    stage: _RuleKind
    transpose: _RuleKind
    vjp: _RuleKind
    vmap: _RuleKind

_VERSION_1 = (
    *("jvp", "vjp", "vmap", "transpose", "physical", "partial_eval", "partial_eval_jaxpr", "dce"),
)
"""Kinds of ``bindax-transforms`` that packages for plugin API 1 name without depending on it."""


class _UnreadKind(_RuleKind):
    """A rule kind that no installed package declares: rules of it are accepted, and not kept."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.signature = ""

    def install(self, primitive: "_Primitive", rule: _Rule) -> None:
        """Drop a rule, which no interpreter reads."""


def __getattr__(name: str) -> _typing.Any:
    found = None if name.startswith("_") else _runtime.plugins.find_rule_kind(name)
    if found is None and name in _VERSION_1:
        return _UnreadKind(name)
    if found is None:
        raise _missing_attribute("bindax.extend.rules", name, lambda: (*__dir__(), *_VERSION_1))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    names = [name for name in globals() if not name.startswith("_")]
    return sorted({*names, *_runtime.plugins.rule_kind_names()})
