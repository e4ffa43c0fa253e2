"""The structure of an object, kept with it and brought up to date when something changed.

While no attribute of any object changed, a plan holds, and a call reads the values of the variables
and nothing else. Where attributes of the plan's own objects were given other static values or
other variables, these are exchanged in the plan. Anything else, such as an attribute that is new,
makes a new plan from a new traversal.
"""

from __future__ import annotations

from operator import is_
from typing import Any

from bindax_core.extend import Array
from bindax_core.tree_util import is_tree_node
from bindax_nnx._mutation_counter import mutation_counter
from bindax_nnx._tokens import ARRAY, VariableToken
from bindax_nnx.graph import static_token, traverse
from bindax_nnx.lift.structure import Structure, structure_of, structure_of_tokens
from bindax_nnx.object import Object
from bindax_nnx.variables import Variable


class Plan:
    """The graphs in the arguments of a call, their structure, references and variables."""

    def __init__(self, roots: tuple[Any, ...]) -> None:
        traversal = traverse(roots)
        self._mark: Any = mutation_counter.now if traversal.is_lasting else None
        self._variables_mark: Any = mutation_counter.variables
        self.roots: tuple[Any, ...] = roots
        self.structure: Structure = structure_of(traversal)
        self.references: list[Any] = traversal.references
        self.variables: list[Variable[Any]] = traversal.variables
        self._containers = traversal.containers
        self._indices = traversal.indices
        self._nodes = [
            (x, x._nnx_mark, dict(x.__dict__), x._nnx_marks)
            for x in traversal.references
            if isinstance(x, Object)
        ]
        self._tokens = [x._token for x in traversal.variables]

    def holds(self) -> bool:
        """Tell whether the graphs are what the plan says, after following small changes."""
        now = mutation_counter.now
        if self._mark is not now:
            if self._mark is None or not self._follow():
                return False
            self._mark = now
        if self._variables_mark is not mutation_counter.variables:
            if not self._has_its_variables():
                return False
            self._variables_mark = mutation_counter.variables
        return not self._containers or all(_unchanged(x, items) for x, items in self._containers)

    def _has_its_variables(self) -> bool:
        """Tell whether the variables have the metadata that they had, and hold arrays."""
        return all(map(_is_as_it_was, self.variables, self._tokens))

    @property
    def is_lasting(self) -> bool:
        """Tell if the plan can hold again."""
        return self._mark is not None

    def is_back(self) -> bool:
        """Tell whether the graphs, which were others meanwhile, are again what the plan says."""
        if self._variables_mark is not mutation_counter.variables and not self._has_its_variables():
            return False
        for node, mark, before, marks in self._nodes:
            after = node.__dict__
            if node._nnx_mark is not mark and not (
                node._nnx_marks is marks
                and before.keys() == after.keys()
                and all(map(is_, before.values(), after.values()))
            ):
                return False
        if not all(_unchanged(x, items) for x, items in self._containers):
            return False
        self._nodes = [(node, node._nnx_mark, *rest) for node, _, *rest in self._nodes]
        self._mark, self._variables_mark = mutation_counter.now, mutation_counter.variables
        return True

    def _follow(self) -> bool:
        """Exchange what attributes hold now; False where more changed than that."""
        changed = [
            (i, node, before, marks)
            for i, (node, mark, before, marks) in enumerate(self._nodes)
            if node._nnx_mark is not mark
        ]
        if not changed:
            return True
        if any(
            before.keys() != node.__dict__.keys() or node._nnx_marks is not marks
            for _, node, before, marks in changed
        ):
            return False
        mark, self._mark = self._mark, None  # until the exchange is complete
        tokens = list(self.structure.tokens)
        for i, node, before, marks in changed:
            after = node.__dict__
            for name, value in after.items():
                old = before[name]
                if value is not old:
                    place = self.structure.places()[self._indices[id(node)], name]
                    token = self._exchanged(old, value, tokens[place])
                    if token is None:
                        return False
                    tokens[place] = token[0]
            self._nodes[i] = node, node._nnx_mark, dict(after), marks
        try:
            self.structure = structure_of_tokens(tuple(tokens), len(self.variables))
        except TypeError:  # one cannot be hashed; the traversal says which
            return False
        self._mark = mark
        return True

    def _exchanged(self, old: Any, value: Any, written: Any) -> tuple[Any] | None:
        """The token of a value in the place of another; None where a traversal has to decide."""
        if isinstance(value, Variable):
            index = self._indices.get(id(old))
            if (
                type(written) is not VariableToken
                or index is None
                or id(value) in self._indices
                or type(value._value) is not Array
                or self.structure.has_sharing
            ):
                return None
            number = next(i for i, x in enumerate(self.variables) if x is old)
            self.variables[number] = self.references[index] = value
            self._tokens[number] = value.token
            del self._indices[id(old)]
            self._indices[id(value)] = index
            return (value.token,)
        return None if written is ARRAY or static_token(old) is None else static_token(value)


def _is_as_it_was(variable: Variable[Any], token: Any) -> bool:
    if variable._token is not token:
        return False
    kind = type(variable._value)
    return kind is Array or not is_tree_node(kind)


def _unchanged(container: Any, items: tuple[Any, ...]) -> bool:
    now: Any = container if type(container) is list else (*container, *container.values())
    return len(now) == len(items) and all(map(is_, now, items))


_PLANS = 8
"""The number of plans that an object keeps, for the other objects that it is called with."""
_FORMER = 3
"""The number of former plans for the same objects, for what is added and deleted in turn."""


def plan_of(roots: tuple[Any, ...]) -> Plan:
    """The known structure of some objects, found anew where they changed."""
    first = roots[0]
    plans: dict[Any, list[Plan]] | None = first._nnx_plan
    key = id(first) if len(roots) == 1 else tuple(map(id, roots))  # the plans keep them alive
    known = None if plans is None else plans.get(key)
    if known is not None and known[0].holds():
        return known[0]
    if plans is None or (known is None and len(plans) >= _PLANS):
        plans = {}
        object.__setattr__(first, "_nnx_plan", plans)
    former = [] if known is None else [x for x in known if x.is_lasting]
    plan = next((x for x in former[1:] if x.is_back()), None) or Plan(roots)
    plans[key] = [plan, *[x for x in former if x is not plan]][: _FORMER + 1]
    return plan
