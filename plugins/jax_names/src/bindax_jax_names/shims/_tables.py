"""JAX's dictionaries of rules, as views of bindax's rule tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from bindax_core.extend import Primitive, Rule, RuleKind
from bindax_jax_names.shims._sites import of_package

Function = Callable[..., Any]


class RuleMapping(MutableMapping[Primitive, Function]):
    """A dictionary from primitives to rules with JAX's signature.

    What is set becomes a rule of bindax, from the package that sets it; what is read is a rule of
    bindax, as JAX would call it.

    Args:
        kind: the table, or the name of one that bindax has no use for: it is kept by itself.
        from_jax: makes bindax's rule from a primitive and JAX's rule.
        to_jax: makes JAX's rule from a primitive and the function that interpreters call.
    """

    def __init__(
        self,
        kind: RuleKind | str,
        from_jax: Callable[[Primitive, Function], Any],
        to_jax: Callable[[Primitive, Function], Function] | None = None,
    ) -> None:
        self._kind = kind if isinstance(kind, RuleKind) else None
        self._from_jax = from_jax
        self._to_jax = to_jax
        self._given: dict[Primitive, Function] = {}

    def __setitem__(self, primitive: Primitive, function: Function) -> None:
        if self._kind is not None:
            put_rule(self._kind, primitive, of_package(self._from_jax(primitive, function)))
        self._given[primitive] = function

    def __getitem__(self, primitive: Primitive) -> Function:
        if primitive in self._given:
            return self._given[primitive]
        found = None if self._kind is None else self._kind.find(primitive)
        if found is None or self._to_jax is None:
            raise KeyError(primitive)
        return self._to_jax(primitive, found)

    def __delitem__(self, primitive: Primitive) -> None:
        del self._given[primitive]
        rule = None if self._kind is None else self._kind.rule_of(primitive)
        if self._kind is not None and rule is not None:
            self._kind.remove(primitive, rule)

    def __contains__(self, primitive: object) -> bool:
        try:
            self[primitive]  # type: ignore[index]
        except (KeyError, TypeError):
            return False
        return True

    def __iter__(self) -> Iterator[Primitive]:
        known = () if self._kind is None else self._kind.functions
        return iter({**self._given, **dict.fromkeys(known)})

    def __len__(self) -> int:
        return sum(1 for _ in self)


def put_rule(kind: RuleKind, primitive: Primitive, rule: Rule) -> None:
    """Install a rule; one that a package gave before for a primitive of its own is replaced."""
    old = kind.rule_of(primitive)
    if old is not None and hasattr(primitive, "_evaluation"):
        kind.remove(primitive, old)
    kind.install(primitive, rule)


def single(primitive: Primitive, results: Any) -> Any:
    """The results of a rule as JAX has them: of a one-result primitive, the result."""
    return results if primitive.multiple_results else results[0]
