"""``checkpoint``: a function whose derivative computes values again, in order to save memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ParamSpec, TypeVar, overload

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    PyTreeDef,
    api_boundary,
    convert_constvars,
    describe_function,
    is_value,
    tree_flatten,
    tree_unflatten,
    typeof,
    unknown_type_error,
    wraps,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import flatten_function, parameter_names
from bindax_transforms.remat._primitive import checkpoint_p
from bindax_transforms.remat.checkpoint_policies import POLICY, Policy
from bindax_transforms.staging import static_arguments as arguments
from bindax_transforms.staging.interning import has_functions, intern_jaxpr
from bindax_transforms.staging.reference import check_distinct, has_references
from bindax_transforms.staging.staged_program import (
    StagedProgram,
    kept_apart,
    stage_with_references,
)
from bindax_transforms.staging.static_arguments import JitOptions, Statics
from bindax_transforms.staging.trace_cache import traced_once

P = ParamSpec("P")
R = TypeVar("R")

_LIMIT = 256
_Traced = tuple[ClosedJaxpr, list[Any], StagedProgram, PyTreeDef]
"""A function's jaxpr, what it closes over, its references, and the structure of its result."""


@dataclass(eq=False)
class _Checkpointed:
    """A function to be checkpointed, and its jaxprs by what they say."""

    fun: Callable[..., Any]
    prevent_cse: bool
    policy: Policy | None
    options: JitOptions
    programs: dict[ClosedJaxpr, ClosedJaxpr] = field(default_factory=dict)

    def call(self, args: Any, kwargs: Any) -> Any:
        dynamic_args, dynamic_kwargs, statics = arguments.split_static(
            self.fun, self.options, args, kwargs, "checkpoint"
        )
        leaves, tree = tree_flatten((dynamic_args, dynamic_kwargs))
        restored: Callable[[Sequence[Any]], Sequence[Any]] | None = None
        if has_references(leaves):
            check_distinct(leaves, partial(parameter_names, self.fun, dynamic_args, dynamic_kwargs))
            leaves, restored = kept_apart(leaves)
        avals = [self._aval(x, args, kwargs) for x in leaves]
        key = "checkpoint", statics, tree, tuple(avals)
        jaxpr, consts, staged, out_tree = self._remembered(args, kwargs, key, restored)
        outs = checkpoint_p.bind(
            *consts,
            *staged.load(),
            *leaves,
            jaxpr=jaxpr,
            prevent_cse=self.prevent_cse,
            policy=self.policy,
            differentiated=False,
        )
        return tree_unflatten(out_tree, staged.store(outs))

    def traced_parts(self) -> tuple[Any, ...]:
        """The parts that jaxprs with this depend on, for ``traced_once``."""
        return (self.fun,)

    def _aval(self, x: Any, args: Any, kwargs: Any) -> Any:
        if is_value(x):
            return typeof(x)
        paths = arguments.argument_paths(self.fun, args, kwargs)
        place = next(path for path, leaf in paths if leaf is x)
        before = f"checkpoint of {describe_function(self.fun)}: argument {place} is not an array: "
        raise unknown_type_error(x, before, arguments.STATIC)

    def _remembered(
        self,
        args: Any,
        kwargs: Any,
        key: tuple[str, Statics, PyTreeDef, tuple[Any, ...]],
        restored: Callable[[Sequence[Any]], Sequence[Any]] | None,
    ) -> _Traced:
        """The jaxpr, traced anew if what the function closes over may have changed.

        That may be the parameters of a model that is trained, or the tracers of a transformation.
        """
        _, statics, tree, avals = key

        def trace() -> tuple[_Traced, Sequence[Any]]:
            origin = DebugInfo("checkpoint", self.fun)
            dynamic = arguments.with_static(self.fun, self.options, args, kwargs)
            flat_function, out_tree = flatten_function(dynamic, tree, origin)
            function = flat_function
            if restored is not None:  # references among the arguments are closed over
                function = lambda *values: flat_function(*restored(values))  # noqa: E731
            staged = stage_with_references(function, avals, origin)
            jaxpr, consts = convert_constvars(staged.program)
            return (self._shared(jaxpr), consts, staged, out_tree()), consts

        if restored is not None:
            return trace()[0]
        return traced_once([self.fun], key, trace, given=statics)

    def _shared(self, jaxpr: ClosedJaxpr) -> ClosedJaxpr:
        """An earlier jaxpr of the function that says the same, with what was derived from it.

        Jaxprs with custom rules have no such: the rules may have changed what they close over.
        """
        key = intern_jaxpr(jaxpr)
        if has_functions(key):
            return jaxpr
        if len(self.programs) >= _LIMIT:
            self.programs.clear()
        return self.programs.setdefault(key, jaxpr)


@overload
def checkpoint(
    fun: Callable[P, R],
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Callable[P, R]: ...
@overload
def checkpoint(
    fun: None = None,
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@api_boundary
def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Any:
    """The same function, whose derivative saves little and computes the rest again.

    Reverse mode keeps the intermediate values that it needs until the cotangents arrive. Of a
    checkpointed function it keeps the arguments only, and what the policy says. Values and
    derivatives are the same.

    Args:
        fun: a function of arrays and trees of arrays, without side effects. It is traced when
            it is called: Python control flow may depend on static arguments only.
        prevent_cse: whether compiled code is kept from merging the second computation with the
            first one, which would undo the saving. ``False`` is safe, and faster, inside the body
            of a ``scan``, where the two computations are in two loops. (On CPUs the second one is
            put into a branch of a conditional, elsewhere behind an optimization barrier.)
        policy: which intermediate values are saved, one of ``checkpoint_policies`` or a hashable
            function ``(primitive, *avals, **params) -> bool``; None saves none.
        static_argnums: positions of arguments that are no arrays: any Python values.
        static_argnames: the names of such arguments.

    Returns:
        A function with the arguments and results of ``fun``; without ``fun``, a decorator.

    Raises:
        TypeError: when the policy is no hashable function, or an argument no array.

    The method is described by Griewank and Walther, *Evaluating Derivatives* (2008), chapter 12.

    >>> from bindax_transforms import checkpoint, grad
    >>> @checkpoint
    ... def f(x):
    ...     return x * x * x
    >>> float(grad(f)(2.0))
    12.0
    """
    if fun is None:
        return partial(
            checkpoint,
            prevent_cse=prevent_cse,
            policy=policy,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
        )
    check_function("checkpoint", "fun", fun)
    _check_policy(policy)
    options = _static_options(fun, static_argnums, arguments.words(static_argnames))
    checkpointed = _Checkpointed(fun, bool(prevent_cse), policy, options)

    @wraps(fun)
    @api_boundary
    def call(*args: Any, **kwargs: Any) -> Any:
        return checkpointed.call(args, kwargs)

    return call


def _static_options(fun: Callable[..., Any], argnums: Any, names: tuple[str, ...]) -> JitOptions:
    positions = arguments.positions(argnums)
    arguments.check_positions(fun, positions, transformation="checkpoint")
    return JitOptions(*arguments.complete(fun, positions, names, transformation="checkpoint"))


def _check_policy(policy: Any) -> None:
    if policy is None:
        return
    check_function("checkpoint", "policy", policy, POLICY)
    try:
        hash(policy)
    except TypeError:
        raise TypeError(
            f"the policy of checkpoint must be hashable, because it is a parameter of the "
            f"program, but {policy!r:.80} of type {type(policy).__name__} is not."
        ) from None
