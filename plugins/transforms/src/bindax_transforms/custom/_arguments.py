"""Arguments and results of functions with rules of their own: positions, trees, types, messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import WRAPPER_UPDATES, update_wrapper
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

import numpy as np

from bindax_core.errors import ShapeError, TreeError, clause
from bindax_core.extend import (
    DebugInfo,
    PyTreeDef,
    Tracer,
    api_boundary,
    describe_function,
    flatten_prefix,
    float0,
    is_differentiable,
    is_value,
    operations_for,
    tree_flatten,
    tree_leaves,
    tree_structure,
    tree_unflatten,
    typeof,
    unknown_type_error,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import argument_names, check_values, merge, parameter_roots
from bindax_transforms.custom.symbolic_zeros import SymbolicZero as SymbolicZero
from bindax_transforms.custom.symbolic_zeros import zero_from_primal as zero_from_primal
from bindax_transforms.manual_axes import same_on_devices, varying_as
from bindax_transforms.staging.reference import (
    Reference,
    argument_error,
    check_distinct,
    returned_error,
)
from bindax_transforms.staging.static_arguments import positions, words
from bindax_transforms.zeros import Zero, instantiate_zeros

P = ParamSpec("P")
R = TypeVar("R")


class Arguments:
    """The arguments that a function's rules differentiate, and the way in which calls pass them."""

    def __init__(
        self,
        kind: str,
        function: Callable[..., Any],
        nondiff_argnums: Sequence[int] | int = (),
        nondiff_argnames: Sequence[str] | str = (),
    ) -> None:
        check_function(kind, "fun", function)
        self.kind = kind
        self.name = f"{kind} function {describe_function(function)}"
        self.function = function
        try:
            self.signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self.signature = None
        self._num_positional = _num_positional(self.signature)
        nums = positions(nondiff_argnums, "nondiff_argnums")
        names = words(nondiff_argnames, "nondiff_argnames")
        self.nondiff = tuple(sorted({*nums, *(self._position(n) for n in names)}))

    def _position(self, name: str) -> int:
        known = list(self.signature.parameters) if self.signature is not None else []
        if name not in known:
            raise ValueError(
                f"nondiff_argnames of the {self.name} has {name!r}, but its parameters are "
                f"{', '.join(known) or 'not known'}."
            )
        return known.index(name)

    def resolve(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments by position, defaults filled in."""
        if self.signature is not None and (kwargs or len(args) != self._num_positional):
            try:
                bound = self.signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"the {self.name} was called wrongly: {clause(error)}.") from None
            bound.apply_defaults()
            # Defaults of arguments without a position, as of a partial, the function fills in.
            args, kwargs = bound.args, {k: v for k, v in bound.kwargs.items() if k in kwargs}
        if kwargs:
            raise TypeError(
                f"the {self.name} was called with arguments that have no position: "
                f"{', '.join(kwargs)}. Rules take arguments by position; declare them so."
            )
        for i in self.nondiff:
            if not 0 <= i < len(args):
                raise ValueError(
                    f"the {self.name} has nondiff_argnums={self.nondiff}, but it was called with "
                    f"{len(args)} positional arguments."
                )
        return tuple(args)

    def split(self, args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The arguments that rules take as they are, and those they differentiate."""
        nondiff = [args[i] for i in self.nondiff]
        return nondiff, [x for i, x in enumerate(args) if i not in self.nondiff]

    def join(self, nondiff: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        """The inverse of ``split``."""
        if not nondiff:
            return list(others)
        count = len(nondiff) + len(others)
        return merge([i in self.nondiff for i in range(count)], others, nondiff)

    def flatten(
        self, others: Sequence[Any], *, takes_references: bool = False
    ) -> tuple[list[Any], PyTreeDef]:
        """The leaves of the arguments that rules differentiate, checked, and their structure."""
        leaves, tree = tree_flatten(tuple(others))
        for i, x in enumerate(leaves):
            if not is_value(x):
                if isinstance(x, Reference):
                    if takes_references:
                        continue
                    place = f"the argument {self.paths(others)[i]} of the {self.name}"
                    raise argument_error(x, place)
                raise unknown_type_error(
                    x,
                    f"the argument {self.paths(others)[i]} of the {self.name}: ",
                    "Pass arguments that are no arrays in a position of nondiff_argnums.",
                )
        return leaves, tree

    def paths(self, others: Sequence[Any]) -> list[str]:
        """The path of each leaf of the differentiated arguments, beginning with the parameter."""
        roots = parameter_roots(self.function, len(others) + len(self.nondiff))
        pairs = zip(self.split(roots)[1], others, strict=True)
        return [path for root, x in pairs for path in argument_names(x, root)]


def _num_positional(signature: inspect.Signature | None) -> int | None:
    """The number of parameters; None if it is not known, or one cannot be passed by position."""
    if signature is None:
        return None
    kinds = [one.kind for one in signature.parameters.values()]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return len(kinds) if all(kind in positional for kind in kinds) else None


_RULE_SETTERS = ("def_vmap", "defjvp", "defjvps", "defvjp")


class CustomFunction(Generic[P, R]):
    """A function that brings rules of its own."""

    __name__: str

    _decorator: ClassVar[str]

    @api_boundary
    def __init__(
        self,
        fun: Callable[P, R],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        self._arguments = Arguments(self._decorator, fun, nondiff_argnums, nondiff_argnames)
        self.fun = fun
        self.nondiff_argnums: tuple[int, ...] = self._arguments.nondiff
        # The rules of a function inside are its own.
        updated = () if isinstance(fun, CustomFunction) else WRAPPER_UPDATES
        update_wrapper(self, fun, updated=updated)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        # Rules of the function inside: of custom_vmap in a custom_vjp, and the other way round.
        inner = self.__dict__.get("fun")
        if name in _RULE_SETTERS and isinstance(inner, CustomFunction):
            return getattr(inner, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class FlatCall:
    """One call of a function, as a function and rules of flat operands.

    It finds the structure and the types of the output when the function or a rule runs. Rules keep
    it, so it keeps no operands.
    """

    def __init__(
        self,
        arguments: Arguments,
        num_lifted: int,
        restore: Callable[[Sequence[Any]], Any],
        in_tree: PyTreeDef,
        references: Sequence[Reference | None] = (),
    ) -> None:
        self.references = references  # for each leaf of the arguments, if there are any
        self.arguments, self.name = arguments, arguments.name
        self.num_lifted, self.restore, self.in_tree = num_lifted, restore, in_tree
        self._tree: PyTreeDef | None = None
        self.avals: list[Any] | None = None  # until the function has run

    @classmethod
    def of(
        cls,
        arguments: Arguments,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        takes_references: bool = False,
    ) -> tuple[FlatCall, list[Any]]:
        """The call, and its operands: traced values in arguments of ``nondiff_argnums`` first.

        References among the arguments are no operands: the function and its rules get themselves.
        """
        nondiff, others = arguments.split(arguments.resolve(args, kwargs))
        lifted, restore = lift_tracers(nondiff)
        leaves, in_tree = arguments.flatten(others, takes_references=takes_references)
        references = [x if isinstance(x, Reference) else None for x in leaves]
        if all(x is None for x in references):
            return cls(arguments, len(lifted), restore, in_tree), [*lifted, *leaves]
        check_distinct(leaves, lambda: arguments.paths(others))
        for reference in references:
            if reference is not None:
                reference.is_kept = True
        values = [x for x in leaves if not isinstance(x, Reference)]
        return cls(arguments, len(lifted), restore, in_tree, references), [*lifted, *values]

    @property
    def tree(self) -> PyTreeDef:
        """The structure of the output, once anything has run."""
        if self._tree is None:
            raise RuntimeError(f"the {self.name} has not run yet.")
        return self._tree

    def split(self, operands: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        """The arguments that rules take as they are, and the tuple of the others."""
        count = self.num_lifted
        return self.restore(operands[:count]), self.unflatten(operands[count:])

    def unflatten(self, values: Sequence[Any]) -> Any:
        """The tuple of the arguments with these values and the references."""
        if self.references:
            given = iter(values)
            values = [next(given) if x is None else x for x in self.references]
        return tree_unflatten(self.in_tree, values)

    def function(self, *operands: Any) -> list[Any]:
        """Call the function; returns the leaves of its output."""
        return self.of_function(
            self.arguments.function(*self.arguments.join(*self.split(operands)))
        )

    def of_function(self, result: Any) -> list[Any]:
        """The leaves of what the function returned."""
        leaves, self._tree = self._flatten(result, f"the {self.name} returned")
        self.avals = [typeof(x) for x in leaves]
        return leaves

    def of_rule(self, result: Any, rule: str, *, batched: bool = False) -> list[Any]:
        """The leaves of a rule's output; types are the function's, except those of a batch."""
        what = "what" if batched else "the primal output that"
        end = "" if batched else " as primal output"
        leaves, tree = self._flatten(result, f"the {rule} returned{end}")
        if self.avals is None:
            self._tree = tree
            return leaves
        if tree != self._tree:
            raise (ValueError if batched else TypeError)(
                f"the {rule} must return {what} the function returns, with the structure "
                f"{self._tree}, but it returned {tree}."
            )
        for i, (x, aval) in enumerate(zip(leaves, self.avals, strict=True)):
            if not batched and _compared(typeof(x)) != _compared(aval):
                raise TypeError(
                    f"the {rule} must return {what} the function returns: at "
                    f"{argument_names(result, 'output')[i]} that is {aval.str_short()}, but the "
                    f"rule returned {typeof(x).str_short()}."
                )
        return leaves

    def cotangents(self, given: Any, in_avals: Sequence[Any], rule: str) -> list[Any]:
        """The cotangents of the operands, from the tuple of cotangents that a rule returned."""
        leaves = match_leaves(given, self.in_tree, rule, "the tuple of cotangents")
        full = self.unflatten(in_avals)
        if self.references:
            for i, (x, reference) in enumerate(zip(leaves, self.references, strict=True)):
                if reference is not None and x is not None:
                    raise ValueError(
                        f"the {rule} returned a cotangent for {self.arguments.paths(full)[i]}, "
                        f"which is a mutable array reference. Return None for it, and write to "
                        f"the reference."
                    )
            pairs = zip(leaves, self.references, strict=True)
            leaves = [x for x, reference in pairs if reference is None]
        return as_tangents(leaves, in_avals, lambda: self.arguments.paths(full), rule)

    def _flatten(self, result: Any, what: str) -> tuple[list[Any], PyTreeDef]:
        leaves, tree = tree_flatten(result)
        for i, x in enumerate(leaves):
            if isinstance(x, Reference):
                origin = DebugInfo(self.arguments.kind, self.arguments.function)
                raise returned_error(x, origin, argument_names(result, "output")[i])
        check_values(leaves, lambda: argument_names(result, "output"), f"{what} at")
        return leaves, tree


def match_leaves(given: Any, full: Any, rule: str, what: str) -> list[Any]:
    """The leaves of what a rule returned for a tree, or its structure; ``None`` stands for zeros.

    ``rule`` and ``what`` are how messages call the rule and what it returned.
    """
    structure = full if isinstance(full, PyTreeDef) else tree_structure(full)
    leaves, tree = tree_flatten(given)
    if tree == structure:
        return leaves
    try:
        found = flatten_prefix(given, structure, what, full_name="what it belongs to")
    except TreeError as error:
        raise TypeError(f"the {rule} returned the wrong structure: {error}") from None
    if sum(x is not None for x in found) != len(tree_leaves(given)):
        raise TypeError(
            f"the {rule} returned the wrong structure: {what} must have the structure "
            f"{structure}, but it has {tree}."
        )
    return found


def match_flags(given: Any, structure: PyTreeDef, rule: str) -> list[bool]:
    """For each leaf of an output whether a vmap rule says that it is batched."""
    try:
        found = flatten_prefix(given, structure, "out_batched", full_name="the output")
    except TreeError as error:
        raise ValueError(f"the {rule}: {error}") from None
    for flag in found:
        if not isinstance(flag, (bool, np.bool_)):
            raise TypeError(
                f"the {rule} must return booleans in out_batched, but it returned {flag!r:.80}."
            )
    return [bool(flag) for flag in found]


def as_tangents(
    given: Sequence[Any],
    avals: Sequence[Any],
    paths: Callable[[], list[str]],
    rule: str,
    what: str = "cotangent",
) -> list[Any]:
    """Check the tangents or cotangents that a rule gave for primals of some types.

    None and symbolic zeros become ``Zero``, and all others have the right type. ``paths`` gives
    the places of the primals, for messages.
    """
    return [
        _as_tangent(x, aval, (paths, i), rule, what)
        for i, (x, aval) in enumerate(zip(given, avals, strict=True))
    ]


def _compared(aval: Any) -> Any:
    return same_on_devices(aval.strip_weak_type())


def _as_tangent(
    x: Any, aval: Any, place: tuple[Callable[[], list[str]], int], rule: str, what: str
) -> Any:
    expected = aval.cotangent_aval() if what == "cotangent" else aval.tangent_aval()
    paths, i = place
    if type(x) is SymbolicZero and x.aval.shape != expected.shape:
        raise ValueError(
            f"the {rule} returned as {what} of {paths()[i]} a symbolic zero of type "
            f"{x.aval.str_short()}, but the primal there is {aval.str_short()}. Return None for "
            f"zeros, or see whether two of them are swapped."
        )
    if x is None or type(x) in (Zero, SymbolicZero):
        return Zero(expected)
    if not is_value(x):
        raise unknown_type_error(x, f"the {rule} returned as {what} of {paths()[i]}: ")
    given = typeof(x)
    if _compared(given) == _compared(expected):
        if expected.dtype == float0:
            return Zero(expected)
        return varying_as(x, expected) if what == "cotangent" else x
    if what == "cotangent" and expected.dtype == float0 and given.shape == expected.shape:
        return Zero(expected)  # an integer has no cotangent but zero
    # A cotangent may be computed in a wider or narrower float.
    either = given.weak_type or (what == "cotangent" and is_differentiable(given.dtype))
    yields = either and (given.dtype.kind != "c" or expected.dtype.kind == "c")
    if yields and given.shape == expected.shape and expected.dtype != float0:
        return operations_for(expected).convert(x, expected.dtype, expected.weak_type)
    raise (TypeError if given.shape == expected.shape else ShapeError)(
        f"the {rule} must return a {what} of type {expected.str_short()} for {paths()[i]}, because "
        f"the primal there is {aval.str_short()}, but it returned {given.str_short()}."
    )


def as_given(t: Any, symbolic_zeros: bool) -> Any:
    """A tangent or cotangent as a rule gets it."""
    return SymbolicZero(t.aval) if symbolic_zeros and type(t) is Zero else instantiate_zeros(t)


def check_pair(pair: Any, returner: str, parts: str) -> None:
    """Raise when a function or rule did not return two things."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(
            f"the {returner} must return a pair {parts}, but it returned {described(pair)}."
        )


def lift_tracers(tree: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """The traced leaves of a tree, and a function that puts others in their places."""
    if not tree:
        return [], lambda values: tree
    leaves, structure = tree_flatten(tree)
    traced = [i for i, x in enumerate(leaves) if isinstance(x, Tracer)]

    def restore(values: Sequence[Any]) -> Any:
        if not traced:
            return tree
        full = list(leaves)
        for i, x in zip(traced, values, strict=True):
            full[i] = x
        return tree_unflatten(structure, full)

    return [leaves[i] for i in traced], restore


def described(x: Any) -> str:
    """Describe a rule's result, for messages."""
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of length {len(x)}"
    return f"an object of type {type(x).__name__}"
