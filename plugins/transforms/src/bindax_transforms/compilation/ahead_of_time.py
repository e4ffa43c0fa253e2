"""Ahead-of-time compilation: a function lowered and compiled for one type of arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bindax_core.extend import (
    AbstractValue,
    BackendError,
    Tracer,
    admitted_type,
    api_boundary,
    trace_state,
    tree_flatten,
    tree_unflatten,
)

if TYPE_CHECKING:
    from bindax_transforms.compilation._entries import Entry
    from bindax_transforms.compilation.jit_function import JittedFunction


class Lowered:
    """A function lowered for one type of arguments; ahead-of-time compilation."""

    def __init__(self, lowered: Any, entry: Entry, function: JittedFunction[Any, Any]) -> None:
        self._lowered = lowered
        self._entry = entry
        self._function = function

    def as_text(self) -> str:
        """The program in the backend's language."""
        return str(self._lowered.as_text())

    def compile(self) -> Compiled:
        """Compile now."""
        return Compiled(self._lowered.compile(), self._entry, self._function)


class Compiled:
    """A function compiled for one type of arguments."""

    def __init__(self, executable: Any, entry: Entry, function: JittedFunction[Any, Any]) -> None:
        self._executable = executable
        self._entry = entry
        self._function = function

    def as_text(self) -> str:
        """The program after the compiler's optimizations."""
        return str(self._ask("as_text"))

    def cost_analysis(self) -> Any:
        """The compiler's estimate of operations and bytes."""
        return self._ask("cost_analysis")

    def memory_analysis(self) -> Any:
        """The compiler's plan of the memory."""
        return self._ask("memory_analysis")

    def _ask(self, what: str) -> Any:
        method = getattr(self._executable, what, None)
        if method is None:
            raise BackendError(
                f"the backend that runs {self._function!r} gives no {what}: it interprets the "
                f"program. Install a compiler, as with bindax[xla], or compile with backend='xla'."
            )
        return method()

    @api_boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program. Static arguments are part of it, and are left out."""
        entry = self._entry
        leaves, tree = tree_flatten((args, kwargs))
        if trace_state.dynamic is not None or any(isinstance(x, Tracer) for x in leaves):
            raise TypeError(
                f"{self._function!r} compiled ahead of time takes no traced values; call the "
                f"jitted function itself inside transformations."
            )
        if tree != entry.tree:
            raise TypeError(
                f"{self._function!r} was compiled for arguments of the structure {entry.tree}, but "
                f"was called with {tree}; arguments and keyword arguments are passed as to lower, "
                f"but for static ones, which are left out: they are part of the program."
            )
        expected = entry.jaxpr.in_avals[len(entry.consts) :]
        given = [self._function._operand_aval(x, args, kwargs) for x in leaves]
        if [a.strip_weak_type() for a in given] != [a.strip_weak_type() for a in expected]:
            raise TypeError(
                f"{self._function!r} was compiled for arguments "
                f"({', '.join(a.str_short() for a in expected)}), but was called with "
                f"({', '.join(a.str_short() for a in given)}). Compile again for these, or call "
                f"the jitted function itself."
            )
        outs = self._executable(*entry.consts, *leaves)
        return tree_unflatten(entry.out_tree, outs)


class AbstractArgument(Tracer):
    """Stands for an argument of which only the type is known."""

    __slots__ = ("aval",)

    aval: Any  # a slot, in place of the property of the base

    def __init__(self, aval: Any) -> None:
        self.aval = aval


def abstract_arguments(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of a call, with stand-ins for those of which only the type is given."""
    leaves, tree = tree_flatten((args, kwargs))
    stand_ins = [_stand_in(x) if isinstance(x, AbstractValue) else x for x in leaves]
    return tree_unflatten(tree, stand_ins)  # type: ignore[no-any-return]


def _stand_in(aval: AbstractValue) -> AbstractArgument:
    return AbstractArgument(admitted_type(aval))
