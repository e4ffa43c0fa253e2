"""``jit`` of Python functions: traced once for each type of arguments, then compiled."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, update_wrapper
from operator import is_
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from bindax_core.extend import (
    Array,
    DebugInfo,
    PyTreeDef,
    Tracer,
    TracingRecursionError,
    api_boundary,
    bound_shardings,
    config,
    convert_constvars,
    describe_function,
    eval_jaxpr,
    executable_cache,
    executable_of,
    find_backend,
    global_name,
    hide_internal_frames,
    trace_state,
    tree_flatten,
    tree_map,
    unknown_type_error,
)
from bindax_transforms._callables import Signature, check_function
from bindax_transforms._flat import flatten_function, operand_names
from bindax_transforms.compilation import _references as carrying
from bindax_transforms.compilation._bound_jit import BoundJit
from bindax_transforms.compilation._jit_cache import (
    NO_FORM,
    CacheInfo,
    CallForm,
    Entry,
    known_run,
    plain_avals,
    shared_of,
)
from bindax_transforms.compilation.ahead_of_time import (
    Lowered,
    Traced,
    abstract_arguments,
    shardings_of_operands,
)
from bindax_transforms.compilation.jit_primitive import jit_p
from bindax_transforms.compilation.recompilation import note_compilation
from bindax_transforms.compilation.sharding_constraint import shardings_of, with_shardings
from bindax_transforms.staging import static_arguments as arguments
from bindax_transforms.staging.make_jaxpr import operand_of
from bindax_transforms.staging.static_arguments import JitOptions, Statics

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
T = TypeVar("T")
_tracing = threading.local()


class JittedFunction(Generic[P, R]):
    """A function that is traced once for each type of its arguments and then runs compiled.

    >>> from bindax_transforms import jit
    >>> double = jit(lambda x: 2.0 * x)
    >>> isinstance(double, JittedFunction), float(double(1.0)), double.cache_info().misses
    (True, 2.0, 1)
    """

    __wrapped__: Callable[P, R]

    def __init__(self, fun: Callable[P, R], options: JitOptions) -> None:
        arguments.require_options(options)
        update_wrapper(self, fun)
        self._fun = fun
        self._options = options
        self._has_static = bool(options.static_argnums or options.static_argnames)
        self._splits = arguments.splits(options.static_argnums, options.static_argnames)
        self._shared = shared_of(fun, options)
        self._known = self._shared.known  # for an accelerator

    def __repr__(self) -> str:
        return f"<jit of {describe_function(self._fun)}>"

    __signature__: Signature = Signature()

    def __reduce__(self) -> str | tuple[Any, ...]:
        """By name where there is one, or the function and the options, without what is compiled."""
        made = vars(JittedFunction(self._fun, self._options))
        added = {name: value for name, value in vars(self).items() if name not in made}
        return global_name(self) or (JittedFunction, (self._fun, self._options), added or None)

    def traced_parts(self) -> tuple[Any, ...]:
        """Nothing, for ``traced_once``: what it sees it saw when it was traced."""
        return ()

    @overload
    def __get__(self, instance: None, owner: Any = None) -> JittedFunction[P, R]: ...
    @overload
    def __get__(
        self: Callable[Concatenate[T, Q], R], instance: T, owner: Any = None
    ) -> BoundJit[Q, R]: ...
    @overload  # of a static method, whose first parameter takes no instance
    def __get__(self, instance: object, owner: Any = None) -> JittedFunction[P, R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundJit(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        # An api_boundary written out: on this path each microsecond shows.
        try:
            shared = self._shared
            if trace_state.dynamic is None:
                form, leaves = shared.flat, args
                if kwargs or not shared.is_flat:
                    form, leaves = self._recall(args, kwargs)
                settings, run, entry = form.last
                if settings is config.program_key:
                    outs = run(leaves)
                    if outs is not None:
                        shared.hits += 1
                        entry.used = executable_cache.time
                        return outs[0] if entry.out_is_leaf else entry.unflatten(outs)  # type: ignore[no-any-return]
            return self._call(args, kwargs)
        except Exception as error:
            if type(error) is OverflowError:
                arguments.name_overflow(error, self._fun, args, kwargs)
            hide_internal_frames(error)
            raise

    def _recall(self, args: Any, kwargs: Any) -> tuple[CallForm, Any]:
        """The form that a call seems to have, with what is in the places of the leaves."""
        key: Statics = ()
        if self._has_static:
            args, kwargs, key = self._splits[len(args), *kwargs](args, kwargs)
        try:
            form: Any = self._shared.recent.get((key, *kwargs) if kwargs else key)
        except Exception:  # a static value without hash or ==, which the general way refuses
            return NO_FORM, ()
        leaves: Any = None
        if form is not None:
            tree = form.tree
            if tree is None:
                return form, [*args, *kwargs.values()] if kwargs else args
            if tree.take is not None:
                leaves = tree.take((args, kwargs))
            else:
                leaves, given = tree_flatten((args, kwargs))
                leaves = leaves if given is tree else None
        if leaves is not None:
            return form, leaves
        return (NO_FORM, ()) if kwargs or key else (self._shared.flat, args)

    def _call(self, args: Any, kwargs: Any) -> R:
        if trace_state.dynamic is None:
            form, leaves = self._recall(args, kwargs)
            entry = form.find(config.program_key, plain_avals(leaves))
            if entry is not None:
                self._shared.hits += 1
                entry.used = executable_cache.time
                return entry.unflatten(self._outs(entry, [*entry.consts, *leaves], traced=False))  # type: ignore[no-any-return]
        entry, leaves, traced = self._lookup(args, kwargs)
        if entry.references is not None:
            return carrying.call_with_references(self, entry, leaves, args, kwargs)  # type: ignore[no-any-return]
        return entry.unflatten(self._outs(entry, [*entry.consts, *leaves], traced))  # type: ignore[no-any-return]

    def _outs(self, entry: Entry, operands: Sequence[Any], traced: bool) -> Sequence[Any]:
        if traced or entry.closes_over_tracers:
            if self._options.compiler_options:
                raise ValueError(
                    f"{self!r} with compiler_options="
                    f"{dict(self._options.compiler_options)} was called while another function is "
                    f"traced; that one compiles the whole program: give its jit the options."
                )
            if self._options.inline and traced:
                return eval_jaxpr(entry.jaxpr.jaxpr, [], *operands)
            return jit_p.bind(*operands, **entry.params)  # type: ignore[no-any-return]
        return (entry.run or self._compile(entry, operands))(operands)

    def _compile(
        self, entry: Entry, operands: Sequence[Any]
    ) -> Callable[[Sequence[Any]], Sequence[Any]]:
        note_compilation(self, entry)
        params = entry.params
        if self._options.compiler_options:
            traced = Traced(entry, self, bound_shardings(operands))
            executable = traced.lower().compile()._made
        else:
            executable = executable_of(
                entry.jaxpr,
                find_backend(params["backend"]),
                name=params["name"],
                donated=params["donated"],
                keep_unused=params["keep_unused"],
                keep=False,
                operands=operands,
            )
        entry.size = getattr(executable, "size", 0)
        executable_cache.add(entry)
        # The types of the operands are part of the key, so a check of them would be a second one.
        unchecked = getattr(executable, "run_unchecked", None)
        entry.run = unchecked or (lambda operands: executable(*operands))
        entry.run_known = known_run(entry, executable)
        return entry.run

    def _lookup(self, args: Any, kwargs: Any) -> tuple[Entry, list[Any], bool]:
        statics: Statics = ()
        dynamic_args, dynamic_kwargs = args, kwargs
        if self._has_static:
            dynamic_args, dynamic_kwargs, statics = arguments.split_static(
                self._fun, self._options, args, kwargs
            )
        leaves, tree = tree_flatten((dynamic_args, dynamic_kwargs))
        traced = trace_state.dynamic is not None
        avals: list[Any] = []
        for x in leaves:
            if type(x) is Array:
                avals.append(x.aval)
            elif isinstance(x, Tracer):
                traced = True
                avals.append(x.aval)
            elif operand_of(x) is not x:
                return self._lookup(*tree_map(operand_of, (args, kwargs)))
            else:
                avals.append(self._operand_aval(x, args, kwargs))
        key = (tree, tuple(avals), statics, config.program_key)
        shared = self._shared
        entry = shared.find(key, self._fun)
        if entry is None:
            entry = self._trace(key, args, kwargs, tree, avals)
        else:
            shared.hits += 1
            entry.used = executable_cache.time
            if entry.tree is not tree:
                shared.rename(entry, key, tree)
        if not traced and not entry.closes_over_tracers and entry.references is None:
            given = [*dynamic_args, *dynamic_kwargs.values()]
            is_flat = len(given) == len(leaves) and all(map(is_, given, leaves))
            is_flat = is_flat and sorted(dynamic_kwargs) == list(dynamic_kwargs)
            shared.remember(entry, key, None if is_flat else tree, tuple(dynamic_kwargs))
            shared.is_flat = is_flat and not dynamic_kwargs and not self._has_static
            shared.known.remember(JittedFunction, args, kwargs, key, entry)
        return entry, leaves, traced

    def _operand_aval(self, x: Any, args: Any, kwargs: Any) -> Any:
        aval = carrying.operand_type(x)
        if aval is not None:
            return aval
        for path, leaf in arguments.argument_paths(self._fun, args, kwargs):
            if leaf is x:
                place = f"jit of {describe_function(self._fun)}: argument {path} is not an array: "
                raise unknown_type_error(x, place, arguments.STATIC)
        raise unknown_type_error(x)

    def _trace(self, key: Any, args: Any, kwargs: Any, tree: PyTreeDef, avals: list[Any]) -> Entry:
        shared = self._shared
        active: set[Any] = _tracing.__dict__.setdefault("active", set())
        mark = (id(shared), key)
        if mark in active:
            raise TracingRecursionError(
                f"{describe_function(self._fun)} calls itself, while it is being traced, with "
                f"arguments of the same types "
                f"({', '.join(aval.str_short() for aval in avals)}). A program cannot contain "
                f"itself: use while_loop or scan, or let recursion depend on static arguments."
            )
        shared.misses += 1
        active.add(mark)
        try:
            entry = self._traced_entry(key, args, kwargs, tree, avals)
        finally:
            active.discard(mark)
        # A constant that is a tracer of an outer transformation dies with that.
        if not entry.closes_over_tracers:
            shared.add(entry)
            executable_cache.add(entry)
        return entry

    def _traced_entry(
        self, key: Any, args: Any, kwargs: Any, tree: PyTreeDef, avals: list[Any]
    ) -> Entry:
        options = self._options
        fun: Callable[..., Any] = self._fun
        if self._has_static:
            fun = arguments.with_static(fun, options, args, kwargs)
        origin = DebugInfo("jit", self._fun)
        flat_function, out_tree = flatten_function(fun, tree, origin)
        if options.shardings is not None:
            flat_function = with_shardings(
                flat_function, out_tree, self._fun, tree, options.shardings
            )
        staged, references = carrying.stage_function(flat_function, avals, origin)
        jaxpr, consts = convert_constvars(staged.program)
        if not self._has_static:
            jaxpr.cache["operand_names"] = partial(operand_names, weakref.ref(self), tree, avals)
        donated = (False,) * len(jaxpr.in_avals)
        if options.donate_argnums or options.donate_argnames:
            donated = donated[len(avals) :] + arguments.donated_leaves(options, args, kwargs)
        params = {
            "jaxpr": jaxpr,
            "name": getattr(self._fun, "__name__", type(self._fun).__name__),
            "donated": donated,
            "inline": options.inline,
            "keep_unused": options.keep_unused,
            "backend": options.backend,
        }
        return Entry(jaxpr, consts, tree, out_tree(), params, self._shared, key, references)

    @api_boundary
    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """The jaxpr for arguments of these types, with its types; nothing is computed.

        Args:
            args: arrays, or types in their place: ``ShapeDtypeStruct(shape, dtype)``.
            kwargs: the same, by name.
        """
        args, kwargs = abstract_arguments(args, kwargs)
        entry, leaves, _ = self._lookup(args, kwargs)
        operands = entry.operands(leaves, lambda: carrying.leaf_names(self, args, kwargs))
        return Traced(entry, self, shardings_of_operands(operands))

    @api_boundary
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The program in the backend's language, for arguments as for ``trace``.

        Returns:
            An object with ``as_text()``, ``compile()`` and the types.
        """
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The types of the results, in their structure, with what ``out_shardings`` says."""
        return self.trace(*args, **kwargs).out_info

    def cache_info(self) -> CacheInfo:
        """The number of times that the function was traced."""
        shared = self._shared
        return CacheInfo(shared.hits + shared.known.hits, shared.misses, len(shared.entries))

    def _cache_size(self) -> int:
        """The number of traces, under the name that packages for JAX ask by."""
        return len(self._shared.entries)

    def clear_cache(self) -> None:
        """Forget all traces and executables of the function."""
        self._shared.entries.clear()
        self._shared.forget_forms()


@overload
def jit(
    fun: Callable[P, R],
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
    compiler_options: Mapping[str, Any] | None = None,
) -> JittedFunction[P, R]: ...
@overload
def jit(
    fun: None = None,
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
    compiler_options: Mapping[str, Any] | None = None,
) -> Callable[[Callable[P, R]], JittedFunction[P, R]]: ...
@api_boundary
def jit(
    fun: Callable[..., Any] | None = None,
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
    compiler_options: Mapping[str, Any] | None = None,
) -> Any:
    """A function that runs compiled; ``config.compiled_programs`` programs are kept over all.

    It is traced at the first call with arguments of a new type (structure, shapes, dtypes, weak
    types, values of static arguments); without a backend that compiles it is interpreted.

    Args:
        fun: a function of arrays and trees of arrays, without side effects.
        in_shardings: which parts of the positional arguments lie on which devices: a ``Sharding``
            or ``PartitionSpec``, or a tree that begins as the tuple of the arguments does.
        out_shardings: the same for the result; None where the compiler decides.
        static_argnums: positions of arguments that are hashable values, a trace for each value.
        static_argnames: the names of such arguments.
        donate_argnums: positions of arguments whose arrays are used up: results reuse their memory.
        donate_argnames: the names of such arguments.
        keep_unused: whether arguments that the function does not use are passed.
        device: the device that it runs on.
        backend: the name of the backend; by default ``config.backend`` or the best installed.
        inline: whether a call inside another traced function is dissolved into it.
        compiler_options: options of the compiler by name, for calls from outside of programs.

    Raises:
        TypeError: when an argument is neither an array nor static; the message names it.
        ValueError: when a position or name belongs to no parameter, one argument is both static
            and donated, a static argument has no hash, or ``out_shardings`` divide no result.

    >>> from bindax_transforms import jit
    >>> float(jit(lambda x, y: x * y)(2.0, 3.0))
    6.0
    """
    shardings = shardings_of(in_shardings, out_shardings, device)
    chosen = arguments.check_compiler(backend, compiler_options or {})
    others = bool(keep_unused), bool(inline), backend, shardings, chosen

    @api_boundary
    def jitted(fun: Callable[..., Any]) -> Any:
        static = static_argnums, static_argnames, "static"
        return _jitted(fun, static, (donate_argnums, donate_argnames, "donate"), others)

    return jitted if fun is None else jitted(fun)


def _jitted(fun: Callable[..., Any], static: Any, donated: Any, others: Any) -> Any:
    check_function("jit", "fun", fun)
    statics, donates = arguments.places(fun, *static), arguments.places(fun, *donated)
    arguments.check_positions(fun, statics[0], donates[0])
    return JittedFunction(fun, JitOptions(*statics, *donates, *others))
