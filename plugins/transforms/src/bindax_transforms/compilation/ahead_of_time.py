"""Ahead-of-time compilation: a function traced, lowered and compiled for one type of arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.extend import (
    AbstractValue,
    BackendError,
    ClosedJaxpr,
    Dimension,
    PyTreeDef,
    ShapedArray,
    Tracer,
    api_boundary,
    bound_shardings,
    canonicalize_aval,
    find_backend,
    lower_program,
    trace_state,
    tree_flatten,
    tree_map,
    tree_unflatten,
)
from bindax_core.sharding import Format, named, split_format
from bindax_transforms._flat import argument_names, split
from bindax_transforms._typed import Typed
from bindax_transforms.compilation._references import ReferenceType
from bindax_transforms.compilation.expanded_jaxpr import expanded_jaxpr
from bindax_transforms.staging.reference import Reference
from bindax_transforms.staging.static_arguments import argument_paths

if TYPE_CHECKING:
    from bindax_transforms.compilation._jit_cache import Entry
    from bindax_transforms.compilation.jit_function import JittedFunction


class AbstractArgument(Tracer):
    """Stands for an argument of which only the type is known, and perhaps where it is to lie."""

    __slots__ = ("aval", "sharding")

    aval: Any  # a slot, in place of the property of the base

    def __init__(self, aval: Any, sharding: Any = None) -> None:
        self.aval = aval
        self.sharding: Any = sharding


def abstract_arguments(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call, with stand-ins for those of which only the type is given."""
    return tree_map(_stand_in, (args, kwargs))  # type: ignore[no-any-return]


def _stand_in(x: Any) -> Any:
    if not isinstance(x, AbstractValue):
        return x
    given = getattr(x, "placement", None)
    if given is None:
        return AbstractArgument(canonicalize_aval(x))
    layout, given = split_format(given)
    if given is None:
        return AbstractArgument(canonicalize_aval(x))
    sharding = named(given, "ShapeDtypeStruct: sharding")
    sharding.check(x.shape, "ShapeDtypeStruct: the array")  # type: ignore[attr-defined]
    if layout is None:
        return AbstractArgument(canonicalize_aval(x), sharding)
    layout.check(x, "ShapeDtypeStruct: the array")
    return AbstractArgument(canonicalize_aval(x), Format(layout, sharding))


def shardings_of_operands(operands: Sequence[Any]) -> list[Any] | None:
    """For each operand the sharding that it is bound to or stands for, or None; None if all are."""
    found = bound_shardings(operands) or [None] * len(operands)
    found = [
        x.sharding if isinstance(x, AbstractArgument) else sharding
        for x, sharding in zip(operands, found, strict=True)
    ]
    return found if any(found) else None


@dataclass(frozen=True)
class ArgInfo(Typed):
    """The type of one argument of a function that was traced.

    Attributes:
        aval: its type.
        donated: whether its memory may be reused for a result.
    """

    aval: Any
    donated: bool

    @property
    def _aval(self) -> Any:
        """The type, under the name that programs for JAX ask by."""
        return self.aval


class _Stage:
    """A function that was traced, at any stage: its names, types and structures.

    Static arguments are part of the program: they are in none of the trees. ``made`` is what the
    stage adds: the shardings of the operands, the lowered program or the executable.
    """

    def __init__(self, entry: Entry, function: JittedFunction[Any, Any], made: Any) -> None:
        self._entry = entry
        self._function = function
        self._made = made

    def __repr__(self) -> str:
        types = ", ".join(aval.str_short() for aval in self._flat_avals())
        return f"{type(self).__name__}({self.fun_name}: ({types}))"

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return str(self._entry.params["name"])

    @property
    def in_tree(self) -> PyTreeDef:
        """The structure of ``(args, kwargs)``."""
        return self._entry.tree

    @property
    def out_tree(self) -> PyTreeDef:
        """The structure of the result."""
        return self._entry.out_tree

    @property
    def in_avals(self) -> Any:
        """The types of the arguments, as ``(args, kwargs)``."""
        return self._arguments(self._entry.jaxpr.in_avals)

    @property
    def args_info(self) -> Any:
        """The types of the arguments, and which are donated, as ``(args, kwargs)``."""
        pairs = zip(self._entry.jaxpr.in_avals, self._entry.params["donated"], strict=True)
        return self._arguments([ArgInfo(aval, donated) for aval, donated in pairs])

    @property
    def out_info(self) -> Any:
        """The types of the results, in their structure, with what ``out_shardings`` says."""
        pairs = zip(self._entry.out_avals, self._entry.out_placements, strict=True)
        return tree_unflatten(
            self.out_tree, [a if p is None else a.update(sharding=p) for a, p in pairs]
        )

    @property
    def out_avals(self) -> Any:
        """The types of the results, in their structure."""
        return tree_unflatten(self.out_tree, self._entry.out_avals)

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """The positions, among the leaves of the arguments, of those that are donated."""
        donated = self._entry.params["donated"][self._entry.num_closed_over :]
        return tuple(i for i, flag in enumerate(donated) if flag)

    def _flat_avals(self) -> list[Any]:
        return list(self._entry.jaxpr.in_avals[self._entry.num_closed_over :])

    def _arguments(self, values: Sequence[Any]) -> Any:
        """Values for all operands, as ``(args, kwargs)``."""
        return tree_unflatten(self.in_tree, values[self._entry.num_closed_over :])

    def _ask(self, what: str) -> Any:
        method = getattr(self._made, what, None)
        if method is None:
            raise BackendError(
                f"the backend that runs {self._function!r} gives no {what}: it interprets the "
                f"program. Install a compiler, as with bindax[xla], or compile with backend='xla'."
            )
        return method


class Traced(_Stage):
    """A function traced for one type of arguments: what ``jit(f).trace(...)`` gives."""

    @property
    def references(self) -> list[Any]:
        """The mutable array references that the function uses, and types of those that it takes."""
        carried = self._entry.references
        if carried is None:
            return []
        taken = [x for x in self._entry.key[1] if type(x) is ReferenceType]
        return [*carried.captured, *taken]

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The jaxpr, closed over the arrays that the function uses."""
        consts, jaxpr = self._entry.consts, self._entry.jaxpr.jaxpr
        constvars, invars = split(jaxpr.invars, len(consts))
        return ClosedJaxpr(jaxpr.replace(constvars=constvars, invars=invars), consts)

    @property
    def lojax(self) -> Expanded:
        """The same without operations that stand for others, which compilation replaces.

        Primitives with an ``expansion`` rule, such as those of ``bindax.experimental.hijax``, and
        functions with rules of their own beside them give way to what they are made of.
        """
        return Expanded(self._entry, self._function, expanded_jaxpr(self.jaxpr))

    @property
    def argument_shardings(self) -> list[Any] | None:
        """Where each leaf of the arguments was, or None; None when nothing is known of any."""
        known = self._made
        if known is None:
            return None
        return [split_format(one)[1] for one in known[self._entry.num_closed_over :]]

    @api_boundary
    def lower(self, *, lowering_platforms: tuple[str, ...] | None = None) -> Lowered:
        """The program in the backend's language.

        Args:
            lowering_platforms: one, that of the backend by default; for another it can be read.

        Raises:
            TypeError: when a size of an argument is symbolic.
            BackendError: when there are several platforms, or the backend lowers for its own alone.
        """
        entry, params = self._entry, self._entry.params
        for aval in self._flat_avals():
            if isinstance(aval, ShapedArray) and any(isinstance(n, Dimension) for n in aval.shape):
                raise TypeError(
                    f"{self._function!r} was traced for an argument of type {aval.str_short()}; a "
                    f"program with symbolic sizes is not compiled. Export it with "
                    f"bindax.export.export, which compiles for the sizes of each call."
                )
        backend = find_backend(params["backend"])
        other: dict[str, str] = {}
        if lowering_platforms is not None and tuple(lowering_platforms) != (backend.platform,):
            if len(lowering_platforms) != 1 or not hasattr(backend, "exporting"):
                raise BackendError(
                    f"lower: {lowering_platforms=}, but the backend {backend.name!r} lowers for "
                    f"one platform; bindax.export.export(..., platforms=...) does for several."
                )
            other["platform"] = lowering_platforms[0]
        lowered = lower_program(
            entry.jaxpr,
            backend,
            name=params["name"],
            donated=params["donated"],
            keep_unused=params["keep_unused"],
            in_shardings=self._made,
            **other,
        )
        return Lowered(entry, self._function, lowered)


class Expanded(_Stage):
    """A traced function without operations that stand for others: what ``Traced.lojax`` is."""

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The jaxpr, closed over the arrays that the function uses."""
        return self._made  # type: ignore[no-any-return]


class Lowered(_Stage):
    """A function lowered for one type of arguments; what ``jit(f).lower(...)`` gives."""

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The program in the backend's language.

        Args:
            dialect: the language, where the backend has several: ``"stablehlo"``, the default,
                or ``"hlo"``.
            debug_info: whether the lines of the user's program are in it.

        Raises:
            ValueError: when the backend has no such language.
        """
        if dialect is None and not debug_info:
            return str(self._made.as_text())
        self._ask("compiler_ir")  # which interpreters have not, nor dialects
        return str(self._made.as_text(dialect or "stablehlo", debug_info=debug_info))

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The program as an object of the compiler's, which no version promises to keep.

        Args:
            dialect: as for ``as_text``.
        """
        return self._ask("compiler_ir")(dialect)

    def cost_analysis(self) -> Any:
        """The compiler's estimate of operations and bytes, before optimizations."""
        return self._ask("cost_analysis")()

    def compile(self, compiler_options: Mapping[str, Any] | None = None) -> Compiled:
        """Compile now.

        Args:
            compiler_options: options of the compiler by name, added to those of ``jit``.

        Raises:
            CompilationError: when the compiler rejects the program or an option.
        """
        options = {**dict(self._function._options.compiler_options), **(compiler_options or {})}
        if options:
            self._ask("compiler_ir")  # which interpreters have not, nor options
        compiled = self._made.compile(options) if options else self._made.compile()
        return Compiled(self._entry, self._function, compiled)


@dataclass(frozen=True)
class FlatArguments:
    """The arguments of a compiled function.

    Attributes:
        in_avals: the types of their leaves.
        const_args: none: who calls the function does not pass the arrays that it closes over.
    """

    in_avals: tuple[Any, ...]
    const_args: tuple[()] = ()


class Compiled(_Stage):
    """A function compiled for one type of arguments."""

    def as_text(self) -> str:
        """The program after the compiler's optimizations."""
        return str(self._ask("as_text")())

    def cost_analysis(self) -> Any:
        """The compiler's estimate of operations and bytes."""
        return self._ask("cost_analysis")()

    def memory_analysis(self) -> Any:
        """The compiler's plan of the memory."""
        return self._ask("memory_analysis")()

    def runtime_executable(self) -> Any:
        """The executable of the runtime, an object that no version promises to keep."""
        return self._ask("runtime_executable")()

    @property
    def _params(self) -> FlatArguments:
        """The arguments, under the names that programs for JAX ask by."""
        return FlatArguments(tuple(self._flat_avals()))

    _executable = _params

    @property
    def input_shardings(self) -> Any:
        """Where the arguments are, as ``(args, kwargs)``."""
        return self._arguments(self._ask("input_shardings")())

    @property
    def output_shardings(self) -> Any:
        """Where the results are, in their structure."""
        return tree_unflatten(self.out_tree, self._ask("output_shardings")())

    @property
    def input_formats(self) -> Any:
        """The order of the axes of the arguments in memory, and where they are.

        Returns:
            For each argument a ``Format``, as ``(args, kwargs)``; an empty one for arguments that
            the program does not use.

        >>> from bindax_transforms import jit
        >>> compiled = jit(lambda x: x + x).lower(np.ones((2, 3), np.float32)).compile()
        >>> compiled.input_formats[0][0].layout
        Layout(major_to_minor=(0, 1))
        """
        return self._arguments(self._ask("input_formats")())

    @property
    def output_formats(self) -> Any:
        """The order of the axes of the results in memory, and where they are, in their structure.

        >>> from bindax_transforms import jit
        >>> compiled = jit(lambda x: x + x).lower(np.ones((2, 3), np.float32)).compile()
        >>> compiled.output_formats.layout
        Layout(major_to_minor=(0, 1))
        """
        return tree_unflatten(self.out_tree, self._ask("output_formats")())

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The same as a call of the object."""
        return self(*args, **kwargs)

    @api_boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program. Static arguments are part of it, and are left out."""
        entry = self._entry
        leaves, tree = tree_flatten((args, kwargs))
        if any(isinstance(x, AbstractValue) for x in leaves):
            raise TypeError(
                f"{self._function!r} compiled ahead of time was called with types in place of "
                f"arrays ({', '.join(repr(x) for x in leaves if isinstance(x, AbstractValue))}); "
                f"pass arrays of these types. For the types of the results use out_info."
            )
        if trace_state.dynamic is not None or any(isinstance(x, Tracer) for x in leaves):
            raise TypeError(
                f"{self._function!r} compiled ahead of time takes no traced values; call the "
                f"jitted function itself inside transformations."
            )
        if tree != entry.tree:
            raise TypeError(
                f"{self._function!r}: Function compiled with input pytree does not match the input "
                f"pytree it was called with: {entry.tree} and {tree}. Arguments and keyword "
                f"arguments are passed as to lower, but for static ones, which are left out: they "
                f"are part of the program."
            )
        expected = self._flat_avals()
        aval_of = self._function._operand_aval
        typed = zip(leaves, expected, strict=True)
        leaves = [
            x if isinstance(x, Reference) else _yielding(x, aval_of(x, args, kwargs), aval)
            for x, aval in typed
        ]
        given = [x.aval if isinstance(x, Reference) else aval_of(x, args, kwargs) for x in leaves]
        if [a.strip_weak_type() for a in given] != [a.strip_weak_type() for a in expected]:
            named = not self._function._has_static  # a position is a parameter only then
            fun: Any = self._function._fun if named else None
            paths = [path for path, _ in argument_paths(fun, args, kwargs)]
            wrong = "\n".join(
                f"Argument {path!r} compiled with {b.str_short()} and called with {a.str_short()}"
                for path, a, b in zip(paths, given, expected, strict=True)
                if a.strip_weak_type() != b.strip_weak_type()
            )
            raise TypeError(
                f"{self._function!r}: Argument types differ from the types for which this "
                f"computation was compiled. The mismatches are:\n{wrong}\nCompile again for these "
                f"types, or call the jitted function itself."
            )
        outs = self._made(*entry.operands(leaves, lambda: argument_names((args, kwargs))))
        if entry.references is not None:
            outs = entry.references.store(leaves, outs)
        return tree_unflatten(entry.out_tree, outs)


def _yielding(x: Any, given: Any, expected: Any) -> Any:
    """A number in the dtype that the program takes, where one of the two yields to the other."""
    if given.strip_weak_type() == expected.strip_weak_type() or given.shape or expected.shape:
        return x
    weak = given.weak_type or expected.weak_type
    same_kind = given.dtype.kind.replace("V", "f") == expected.dtype.kind.replace("V", "f")
    return np.asarray(x).astype(expected.dtype) if weak and same_kind else x
