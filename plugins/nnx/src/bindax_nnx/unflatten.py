"""Rebuild objects from a GraphDef and values: the inverse of a traversal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import ref

from bindax_core.extend import tree_unflatten
from bindax_nnx._mutation_counter import current_trace
from bindax_nnx._paths import name_places
from bindax_nnx._tokens import (
    SELF_EXPLAINING,
    ArrayToken,
    Branch,
    Content,
    Known,
    Leaf,
    NodeToken,
    Seen,
    VariableToken,
)
from bindax_nnx.array_attributes import array_attribute
from bindax_nnx.errors import GraphError
from bindax_nnx.external_nodes import find_foreign
from bindax_nnx.object import Object, new_object
from bindax_nnx.variables import Variable, restore_variable

_set = object.__setattr__
_STATIC_WORDS = SELF_EXPLAINING | {tuple}


class Build:
    """Put values together from what a traversal wrote.

    Args:
        tokens: the structure.
        values: what the variables hold.
        arrays: the arrays outside of variables.
        originals: the nodes and variables that ``Known`` tokens are about.
        expand: whether known nodes are written with their attributes, which they then get.
        reused: variables to take in the place of new ones, where they are of the same kind.
        bare: whether what is no variable in ``reused`` stays without one.
    """

    __slots__ = (
        "arrays",
        "bare",
        "context",
        "expand",
        "originals",
        "position",
        "references",
        "reused",
        "tokens",
        "values",
        "variables",
    )

    def __init__(
        self,
        tokens: Sequence[Any],
        values: Iterator[Any],
        arrays: Iterator[Any] | None = None,
        originals: Sequence[Any] = (),
        expand: bool = False,
        reused: Sequence[Any] | None = None,
        bare: bool = False,
    ) -> None:
        self.tokens: Sequence[Any] = tokens
        self.values: Iterator[Any] = values
        self.arrays: Iterator[Any] = iter(()) if arrays is None else arrays
        self.originals: Sequence[Any] = originals
        self.expand: bool = expand
        self.reused: Sequence[Any] | None = reused
        self.bare: bool = bare
        self.context: Any = current_trace()
        self.position: int = 0
        self.references: list[Any] = []
        self.variables: list[Variable[Any]] = []

    def next(self) -> Any:
        """Build the next value."""
        token = self.tokens[self.position]
        self.position += 1
        kind = type(token)
        if kind in SELF_EXPLAINING:
            return token
        if kind is VariableToken:
            return self._variable(token, next(self.values))
        if kind is tuple:
            return token[1]
        if kind is NodeToken:
            return self._node(token, None)
        if kind is Seen:
            return self.references[token.index]
        if kind is Branch:
            return tree_unflatten(token.tree, [self.next() for _ in range(token.size)])
        if kind is ArrayToken:
            value = next(self.values)
            self.variables.append(array_attribute(value))
            return value
        if kind is Leaf:
            return next(self.arrays)
        if kind is Known:
            return self._known(token.index)
        if kind is Content:
            leaves = [next(self.values) for _ in range(token.tree.num_leaves)]
            value = tree_unflatten(token.tree, leaves)
            token = self.tokens[self.position]
            self.position += 1
            return self._variable(token, value)
        raise GraphError(f"{token!r} is no word of a structure.")

    def _variable(self, token: VariableToken, value: Any) -> Any:
        found = None if self.reused is None else self.reused[len(self.variables)]
        if self.bare and not isinstance(found, Variable):
            self.references.append(value)
            self.variables.append(array_attribute(value))
            return value
        if isinstance(found, Variable) and type(found) is token.type:
            variable: Variable[Any] = found
        else:
            variable = restore_variable(token, value, self.context)
        self.references.append(variable)
        self.variables.append(variable)
        return variable

    def _known(self, index: int) -> Any:
        original = self.originals[index]
        if not self.expand:
            return original
        if isinstance(original, Variable):
            self.references.append(original)
            return original
        token = self.tokens[self.position]
        self.position += 1
        return self._node(token, original)

    def _node(self, token: NodeToken, target: Any) -> Any:
        kind = token.type
        foreign = None if issubclass(kind, Object) else find_foreign(kind)
        node = target
        if node is None:
            if foreign is None:
                node = new_object(kind, self.context)
            else:
                node = foreign.create(token.metadata)
        self.references.append(node)
        attributes = {}
        words, values, context = self.tokens, self.values, self.context
        references, variables = self.references, self.variables
        holder = None if foreign is not None else ref(node)
        for name in token.names:
            word = words[self.position]
            if type(word) is VariableToken and holder is not None and self.reused is None:
                # The most common kind here, for speed.
                self.position += 1
                variable = restore_variable(word, next(values), context, (holder, name))
                attributes[name] = variable
                references.append(variable)
                variables.append(variable)
            else:
                value = attributes[name] = self.next()
                if holder is not None and type(word) not in _STATIC_WORDS:
                    name_places(value, holder, name)
        if foreign is not None:
            foreign.fill(node, attributes)
        elif target is None:
            _set(node, "__dict__", attributes)
        else:
            node.__dict__.clear()
            node.__dict__.update(attributes)
            node._changed()
        if foreign is None and token.metadata is not None:
            _set(node, "_nnx_marks", dict(token.metadata))
        return node
