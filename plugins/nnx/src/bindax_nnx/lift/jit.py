"""``jit`` of functions of objects.

Each structure of arguments has a compiled function of flat lists of arrays. What is known of the
structure of an object is kept with the object, as a ``Plan`` (see ``plan``).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload

import bindax_transforms
from bindax_core.errors import UnexpectedTracerError
from bindax_core.extend import Array, api_boundary, hide_internal_frames, tree_flatten
from bindax_core.sharding import SingleDeviceSharding
from bindax_nnx.graph import is_reference, traverse
from bindax_nnx.lift._decorators import decorator, lift_of
from bindax_nnx.lift._names import named_after
from bindax_nnx.lift.ahead_of_time import Lowered, trace_with_states, with_statics
from bindax_nnx.lift.axes import Axes, repeated
from bindax_nnx.lift.cached_structure import plan_of
from bindax_nnx.lift.prefixes import check_prefixes
from bindax_nnx.lift.sharding import Placement, lay_out_arguments
from bindax_nnx.lift.statics import Static, marked, unmarked
from bindax_nnx.lift.structure import Arguments, CallScope, Form, Lift, Returned, finish
from bindax_nnx.modes import Mode
from bindax_nnx.object import Object
from bindax_nnx.sharing import require_unshared

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
T = TypeVar("T")
Options = ParamSpec("Options")


_ALONE = (True,)
"""The order of arguments that are one object: True stands for an object, False for an array."""


class JitFunction(Generic[P, R]):
    """A function of objects and arrays that is traced once for each structure, then compiled."""

    __wrapped__: Callable[..., Any]

    def __init__(
        self,
        fun: Callable[P, R],
        static: tuple[tuple[int, ...], tuple[str, ...]],
        donated: tuple[tuple[int, ...], tuple[str, ...]],
        placement: Placement,
        options: dict[str, Any],
        lift: Lift,
    ) -> None:
        update_wrapper(self, fun)
        self._lift = lift
        self._fun = fun
        self._static_argnums, self._static_argnames = static
        self._donated_argnums, self._donated_argnames = donated
        self._placement = placement
        self._options = options
        self._is_plain = not any((*static, *donated))
        self._programs: dict[Any, Callable[..., Returned]] = {}
        self._quick: dict[Any, Callable[..., Returned]] = {}
        self._layouts: dict[Callable[..., Returned], list[Any]] = {}

    def __repr__(self) -> str:
        return f"<nnx.jit of {getattr(self._fun, '__qualname__', self._fun)!s}>"

    @overload
    def __get__(self, instance: None, owner: Any = None) -> JitFunction[P, R]: ...
    @overload
    def __get__(
        self: Callable[Concatenate[T, Q], R], instance: T, owner: Any = None
    ) -> _Bound[Q, R]: ...
    @overload  # of a static method, whose first parameter takes no instance
    def __get__(self, instance: object, owner: Any = None) -> JitFunction[P, R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _Bound(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        # An api_boundary written out: on this path each microsecond shows.
        try:
            if kwargs or not self._is_plain:
                return self._call(args, kwargs)
            if len(args) == 1 and isinstance(args[0], Object):
                return self._call_quickly(args, args, (), _ALONE)
            # None is for what needs a closer look.
            order = tuple(
                [False if type(x) is Array else isinstance(x, Object) or None for x in args]
            )
            if None in order or True not in order:
                return self._call(args, kwargs)
            roots = tuple([x for x in args if isinstance(x, Object)])
            arrays = [x for x in args if type(x) is Array]
            return self._call_quickly(args, roots, arrays, order)
        except Exception as error:
            hide_internal_frames(error)
            if isinstance(error, UnexpectedTracerError):
                Arguments((args, kwargs))  # names the variable that holds the traced value
            raise

    def _call_quickly(self, args: Any, roots: Any, arrays: Any, order: Any) -> R:
        """Call with objects and arrays as arguments, not containers of them."""
        plan = plan_of(roots)
        program = self._quick.get((plan.structure, order))
        if program is None:
            return self._call(args, {}, (plan.structure, order))
        variables = plan.variables
        values = [x._value for x in variables]
        returned = program(*values, *arrays) if arrays else program(*values)
        if self._layouts:
            lay_out_arguments(variables, self._layouts[program])
        return finish(returned.outcome, plan, returned.outs)  # type: ignore[no-any-return]

    def _call(self, args: Any, kwargs: Any, quick: Any = None) -> R:
        args, kwargs = self._mark_static(args, kwargs)
        arguments = Arguments((args, kwargs), lift=self._lift)
        program = self._program(arguments, args, kwargs)
        if quick is not None:
            self._quick[quick] = program
        returned = program(*arguments.leaves)
        if self._layouts:
            lay_out_arguments(arguments.variables, self._layouts[program])
        return finish(returned.outcome, arguments, returned.outs)  # type: ignore[no-any-return]

    def _mark_static(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        if not self._static_argnums and not self._static_argnames:
            return args, kwargs
        numbers = {n % len(args) for n in self._static_argnums if -len(args) <= n < len(args)}
        names = set(self._static_argnames)
        if names:
            parameters = list(inspect.signature(self._fun).parameters)
            numbers |= {i for i, name in enumerate(parameters[: len(args)]) if name in names}
        return (
            marked(args, numbers),
            {k: Static(x) if k in names else x for k, x in kwargs.items()},
        )

    def _program(self, arguments: Arguments, args: Any, kwargs: Any) -> Callable[..., Returned]:
        form = arguments.form
        program = self._programs.get(form)
        if program is None:
            donated = self._donated(arguments, args, kwargs)
            entry, shardings = None, None
            if self._placement.is_there:
                static = [i for i, x in enumerate(args) if type(x) is Static]
                entry = self._placement.of_arguments(arguments, args, static)
                shardings = tuple(entry.of_leaves())
            flat = _flat_function(self, form, bool(donated), self._placement, entry)
            program = bindax_transforms.jit(
                flat, donate_argnums=donated or None, in_shardings=shardings, **self._options
            )
            self._programs[form] = program
            if entry is not None:
                self._layouts[program] = entry.variables
        return program

    def _donated(self, arguments: Arguments, args: Any, kwargs: Any) -> tuple[int, ...]:
        """The positions of the donated leaves in the flat function."""
        if not self._donated_argnums and not self._donated_argnames:
            return ()
        given = [x for i, x in enumerate(args) if i in self._donated_argnums]
        given += [x for k, x in kwargs.items() if k in self._donated_argnames]
        leaves = tree_flatten(given, is_leaf=is_reference)[0]
        variables = {id(x) for x in traverse(filter(is_reference, leaves)).variables}
        arrays = {id(x) for x in leaves}
        owners = repeated(arguments.variables, arguments.sizes)
        flags = [id(x) in variables for x in owners]
        flags += [id(x) in arrays for x in arguments.arrays]
        return tuple([i for i, flag in enumerate(flags) if flag])

    @api_boundary
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The program in the backend's language, for objects of this structure and these types."""
        args, kwargs = self._mark_static(args, kwargs)
        arguments = Arguments((args, kwargs), lift=self._lift)
        program: Any = self._program(arguments, args, kwargs)
        return Lowered(program.lower(*arguments.leaves), arguments, _statics(args, kwargs), self)

    @api_boundary
    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """The program as a function of states in the place of objects, for ``export``.

        Static arguments are left out: they are part of it.

        Raises:
            TypeError: the function changes an object or returns one, or says where objects lie.
        """
        if self._placement.is_there:
            raise TypeError(
                f"{self!r}: a program of states takes no in_shardings and out_shardings of "
                f"objects; leave them out, and let the arrays decide."
            )
        given, named = self._mark_static(args, kwargs)
        statics = {place: x.value for place, x in _statics(given, named).items()}

        def function(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = with_statics(statics, args, kwargs)
            return self._fun(*args, **kwargs)

        rest = [x for x in given if type(x) is not Static]
        named = {k: x for k, x in named.items() if type(x) is not Static}
        return trace_with_states(named_after(function, self._fun), rest, named, self._options)

    def cache_info(self) -> tuple[int, int]:
        """The number of structures of arguments, and that of traces."""
        programs: Iterable[Any] = self._programs.values()
        return len(self._programs), sum(program.cache_info().size for program in programs)


def _statics(args: Sequence[Any], kwargs: dict[str, Any]) -> dict[int | str, Static]:
    """The static ones among arguments, by position and by name."""
    places: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    return {place: x for place, x in places if type(x) is Static}


def _flat_function(
    function: JitFunction[Any, Any],
    form: Form,
    all_values: bool,
    placement: Placement,
    entry: Axes | None,
) -> Callable[..., Returned]:
    fun, lift = function._fun, function._lift

    def flat(*leaves: Any) -> Returned:
        scope = CallScope(form, leaves, lift)
        args, kwargs = unmarked(*scope.arguments)
        returned = scope.leave(fun(*args, **kwargs), all_values, paths=entry is not None)
        if entry is not None:
            returned.outs = placement.lay_out(scope, entry, returned.outs)
        return returned

    return named_after(flat, fun)


class _Bound(Generic[P, R]):
    """A compiled function with its first arguments given, as a method has its object."""

    def __init__(self, function: JitFunction[Any, Any], *given: Any) -> None:
        self._function = function
        self._given = given
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*self._given, *args, **kwargs)  # type: ignore[no-any-return]

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """The program in the backend's language."""
        return self._function.lower(*self._given, *args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """The program as a function of states in the place of objects."""
        return self._function.trace(*self._given, *args, **kwargs)


class _Partial(_Bound[P, R]):
    """A compiled function with its first arguments given, which its programs remember."""

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """The program in the backend's language."""
        lowered = super().lower(*args, **kwargs)
        lowered._given = self._given
        return lowered


def several(name: str, given: Any, parameter: str) -> tuple[Any, ...]:
    """One position or name, several or none, as a tuple."""
    if given is None or isinstance(given, (int, str)):
        return () if given is None else (given,)
    if not isinstance(given, Iterable):
        raise TypeError(f"{name}: {parameter} must be one or several, but it is {given!r:.60}.")
    return tuple(given)


def jit_partial(fun: Callable[..., Any], *given: Any, **options: Any) -> Callable[..., Any]:
    """A compiled function with its first arguments given.

    Args:
        fun: a function of objects and arrays.
        given: its first arguments.
        options: those of ``jit``.

    Raises:
        ValueError: in tree mode, a variable appears twice in the arguments.

    >>> float(jit_partial(lambda x, y: x * y, 2.0)(3.0))
    6.0
    """
    compiled = jit(fun, **options)
    if compiled._lift.mode is Mode.TREE:
        require_unshared("jit_partial", args=given)
    return _Partial(compiled, *given)


def _placement(device: Any, in_shardings: Any, out_shardings: Any) -> Placement:
    if device is None:
        return Placement(in_shardings, out_shardings)
    if in_shardings is not None or out_shardings is not None:
        raise ValueError("jit: pass a device, or shardings, not both.")
    return Placement(*[SingleDeviceSharding(device)] * 2)


class _Compiling(Protocol[Options]):
    """The type of ``jit``: a function of a function, and a decorator with options."""

    @overload  # first, as mypy takes the first one for ``functools.partial``
    def __call__(  # type: ignore[overload-overlap]
        self, fun: Callable[P, R], /, *args: Options.args, **options: Options.kwargs
    ) -> JitFunction[P, R]: ...
    @overload
    def __call__(
        self, /, *args: Options.args, **options: Options.kwargs
    ) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...


def _compiling(
    transformation: Callable[Concatenate[Callable[..., Any], Options], Any],
) -> _Compiling[Options]:
    return cast("_Compiling[Options]", api_boundary(decorator(transformation)))


@_compiling
def jit(
    fun: Callable[..., Any],
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> JitFunction[Any, Any]:
    """A function of objects and arrays that runs compiled.

    It is traced at the first call with arguments of a new structure or new types. What it changes
    in objects is changed in the originals, also when it is not traced again.

    Args:
        fun: a function of objects, arrays and trees of these.
        in_shardings: which parts of the positional arguments lie on which devices: a ``Sharding``
            or ``PartitionSpec``, ``StateSharding`` with such for an object, or a tuple of these
            and of trees that are prefixes of the arguments; None where the arrays decide. What
            changes in an object stays laid out so.
        out_shardings: the same for the result; None where the compiler decides.
        static_argnums: positions of arguments that are hashable values, a trace for each value.
        static_argnames: the names of such arguments.
        donate_argnums: positions of arguments whose arrays are used up: results reuse their memory.
        donate_argnames: the names of such arguments.
        keep_unused: whether arguments that the function does not use are passed all the same.
        device: the device to which arguments and results go, in the place of shardings.
        backend: the name of the backend that compiles.
        inline: whether the program becomes a part of one that calls it.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Raises:
        TraceContextError: the function changes an object that is no argument.
        ValueError: a variable is shared where it must not be; or there are a device and shardings.

    >>> import numpy as np
    >>> from bindax_nnx import Variable
    >>> count = Variable(np.int32(0))
    >>> jit(lambda count, by: count.set_value(count + by))(count, np.int32(2))
    >>> int(count)
    2
    """
    lift = lift_of("jit", "fun", fun, graph, graph_updates)
    check_prefixes("jit", lift.mode, in_shardings=in_shardings, out_shardings=out_shardings)
    static = several("jit", static_argnums, "static_argnums")
    donated = several("jit", donate_argnums, "donate_argnums")
    statics = static, several("jit", static_argnames, "static_argnames")
    placement = _placement(device, in_shardings, out_shardings)
    options = {"keep_unused": keep_unused, "backend": backend, "inline": inline}
    donated_names = several("jit", donate_argnames, "donate_argnames")
    return JitFunction(fun, statics, (donated, donated_names), placement, options, lift)
