"""What users call: ``jit``, ``make_jaxpr`` and ``eval_shape`` of Python functions."""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import update_wrapper, wraps
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

from bindax_core.extend import (
    AbstractValue,
    Array,
    ClosedJaxpr,
    Origin,
    PyTreeDef,
    ShapedArray,
    Tracer,
    TracingRecursionError,
    api_boundary,
    config,
    describe_function,
    executable_of,
    find_backend,
    hide_internal_frames,
    hoist_consts,
    is_value,
    keystr,
    trace_state,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
    typeof,
    unknown_type_message,
)
from bindax_core.interpreters._flat import flatten_function
from bindax_core.interpreters.jit import jit_p
from bindax_core.interpreters.staging import trace_to_jaxpr

P = ParamSpec("P")
R = TypeVar("R")


class CacheInfo(NamedTuple):
    """How often a compiled function was traced, and how often a trace was used again."""

    hits: int
    misses: int
    size: int


class _Entry:
    """A traced function for one type of arguments."""

    __slots__ = (
        "closes_over_tracers",
        "consts",
        "jaxpr",
        "out_is_leaf",
        "out_tree",
        "params",
        "run",
        "tree",
    )

    def __init__(
        self,
        jaxpr: ClosedJaxpr,
        consts: list[Any],
        tree: PyTreeDef,
        out_tree: PyTreeDef,
        params: dict[str, Any],
    ) -> None:
        self.jaxpr = jaxpr
        self.consts = consts
        self.closes_over_tracers = any(isinstance(c, Tracer) for c in consts)
        self.tree = tree
        self.out_tree = out_tree
        self.out_is_leaf = out_tree.num_leaves == out_tree.num_nodes == 1
        self.params = params
        self.run: Callable[[Sequence[Any]], Sequence[Any]] | None = None


class _Options(NamedTuple):
    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()
    donate_argnames: tuple[str, ...] = ()
    keep_unused: bool = False
    inline: bool = False
    backend: str | None = None


class _Shared:
    """What all ``jit(fun)`` of one function and the same options have in common."""

    __slots__ = ("entries", "flat", "hits", "last", "misses")

    def __init__(self) -> None:
        self.entries: dict[Any, _Entry] = {}
        # The entries again, by the types of positional arguments that are arrays, not trees.
        self.flat: dict[Any, _Entry] = {}
        # The one of them that was used last, with its key: comparing is faster than hashing.
        self.last: tuple[Any, Any, Any, _Entry | None] = (None, None, None, None)
        self.hits = 0
        self.misses = 0


_shared: weakref.WeakKeyDictionary[Any, dict[_Options, _Shared]] = weakref.WeakKeyDictionary()
_tracing = threading.local()
_entries_lock = threading.Lock()


def _shared_of(fun: Callable[..., Any], options: _Options) -> _Shared:
    try:
        return _shared.setdefault(fun, {}).setdefault(options, _Shared())
    except TypeError:  # a callable without hash or weak references has a cache of its own
        return _Shared()


class JittedFunction(Generic[P, R]):
    """A function that is traced once for each type of its arguments and then runs compiled."""

    __wrapped__: Callable[P, R]

    def __init__(self, fun: Callable[P, R], options: _Options) -> None:
        update_wrapper(self, fun)
        self._fun = fun
        self._options = options
        self._has_static = bool(options.static_argnums or options.static_argnames)
        self._shared = _shared_of(fun, options)

    def __repr__(self) -> str:
        return f"<jit of {describe_function(self._fun)}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _BoundJit(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        # An api_boundary written out: on this path each microsecond shows.
        try:
            if kwargs or self._has_static or trace_state.dynamic is not None:
                return self._call(args, kwargs)
            avals = [x.aval for x in args if type(x) is Array]
            if len(avals) != len(args):
                return self._call(args, kwargs)
            shared = self._shared
            bits, backend = config.default_dtype_bits, config.backend
            known, known_bits, known_backend, entry = shared.last
            if avals != known or bits != known_bits or backend != known_backend or entry is None:
                key = (bits, backend, *avals)
                entry = shared.flat.get(key)
                if entry is None:
                    return self._call(args, kwargs, key)
                shared.last = (avals, bits, backend, entry)
            shared.hits += 1
            run = entry.run or self._compile(entry)
            outs = run([*entry.consts, *args] if entry.consts else args)
            if entry.out_is_leaf:
                return outs[0]  # type: ignore[no-any-return]
            return tree_unflatten(entry.out_tree, outs)  # type: ignore[no-any-return]
        except Exception as error:
            hide_internal_frames(error)
            raise

    def _call(self, args: Any, kwargs: Any, flat_key: Any = None) -> R:
        entry, leaves, traced = self._lookup(args, kwargs)
        if traced or entry.closes_over_tracers:
            outs = jit_p.bind(*entry.consts, *leaves, **entry.params)
            return tree_unflatten(entry.out_tree, outs)  # type: ignore[no-any-return]
        if flat_key is not None:
            self._shared.flat[flat_key] = entry
        run = entry.run or self._compile(entry)
        outs = run([*entry.consts, *leaves] if entry.consts else leaves)
        return tree_unflatten(entry.out_tree, outs)  # type: ignore[no-any-return]

    def _compile(self, entry: _Entry) -> Callable[[Sequence[Any]], Sequence[Any]]:
        params = entry.params
        executable = executable_of(
            entry.jaxpr,
            find_backend(params["backend"]),
            name=params["name"],
            donated=params["donated"],
            keep_unused=params["keep_unused"],
        )
        # The types of the operands are part of the key, so a check of them would be a second one.
        unchecked = getattr(executable, "run_unchecked", None)
        entry.run = unchecked or (lambda operands: executable(*operands))
        return entry.run

    def _lookup(self, args: Any, kwargs: Any) -> tuple[_Entry, list[Any], bool]:
        statics: Any = ()
        dynamic_args, dynamic_kwargs = args, kwargs
        if self._has_static:
            dynamic_args, dynamic_kwargs, statics = _split_static(
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
            else:
                avals.append(self._operand_aval(x, args, kwargs))
        key = (tree, tuple(avals), statics, config.default_dtype_bits, config.backend)
        shared = self._shared
        entry = shared.entries.get(key)
        if entry is None:
            entry = self._trace(key, args, kwargs, tree, avals)
        else:
            shared.hits += 1
            if entry.tree is not tree:
                self._rename(entry, key, tree)
        return entry, leaves, traced

    def _rename(self, entry: _Entry, key: Any, tree: PyTreeDef) -> None:
        """Store an entry under an equal key, so that the next lookup compares identities."""
        with _entries_lock:
            entries = {k: e for k, e in self._shared.entries.items() if e is not entry}
            entries[key] = entry
            entry.tree = tree
            self._shared.entries = entries

    def _operand_aval(self, x: Any, args: Any, kwargs: Any) -> Any:
        if is_value(x):
            return typeof(x)
        for path, leaf in argument_paths(self._fun, args, kwargs):
            if leaf is x:
                raise TypeError(
                    f"jit of {describe_function(self._fun)}: argument {path} is not an array: "
                    f"{unknown_type_message(x)} To pass it as static, name it in static_argnames "
                    f"or give its position in static_argnums."
                )
        raise TypeError(unknown_type_message(x))

    def _trace(self, key: Any, args: Any, kwargs: Any, tree: PyTreeDef, avals: list[Any]) -> _Entry:
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
            entry = self._traced_entry(args, kwargs, tree, avals)
        finally:
            active.discard(mark)
        # A constant that is a tracer of an outer transformation dies with that.
        if not entry.closes_over_tracers:
            with _entries_lock:
                shared.entries[key] = entry
        return entry

    def _traced_entry(self, args: Any, kwargs: Any, tree: PyTreeDef, avals: list[Any]) -> _Entry:
        options = self._options
        fun: Callable[..., Any] = self._fun
        if self._has_static:
            fun = _with_static(fun, options, args, kwargs)
        flat_function, out_tree = flatten_function(fun, tree)
        closed = trace_to_jaxpr(flat_function, avals, Origin("jit", self._fun))
        jaxpr, consts = hoist_consts(closed)
        donated = (False,) * len(consts) + self._donated(tree, args, kwargs, len(avals))
        params = {
            "jaxpr": jaxpr,
            "name": getattr(self._fun, "__name__", type(self._fun).__name__),
            "donated": donated,
            "inline": options.inline,
            "keep_unused": options.keep_unused,
            "backend": options.backend,
        }
        return _Entry(jaxpr, consts, tree, out_tree(), params)

    def _donated(self, tree: PyTreeDef, args: Any, kwargs: Any, size: int) -> tuple[bool, ...]:
        options = self._options
        if not options.donate_argnums and not options.donate_argnames:
            return (False,) * size
        flags: list[bool] = []
        donated_positions = _present(options.donate_argnums, args)
        statics = _present(options.static_argnums, args)
        for i, arg in enumerate(args):
            if i not in statics:
                flags += [i in donated_positions] * len(tree_flatten(arg)[0])
        dynamic = {k: v for k, v in kwargs.items() if k not in options.static_argnames}
        for path, _ in tree_flatten_with_path(dynamic)[0]:
            flags.append(path[0].key in options.donate_argnames)
        return tuple(flags)

    def trace(self, *args: P.args, **kwargs: P.kwargs) -> ClosedJaxpr:
        """The program for arguments of these types; nothing is computed."""
        entry, _, _ = self._lookup(*_abstract(args, kwargs))
        return entry.jaxpr

    @api_boundary
    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered:
        """The program in the backend's language, for arguments of these types.

        Returns:
            An object with ``as_text()`` and ``compile()``.
        """
        entry, _, _ = self._lookup(*_abstract(args, kwargs))
        params = entry.params
        lowered = find_backend(params["backend"]).lower(
            entry.jaxpr,
            name=params["name"],
            donated=params["donated"],
            keep_unused=params["keep_unused"],
        )
        return Lowered(lowered, entry, self)

    def eval_shape(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """The types of the results, in their structure."""
        entry, _, _ = self._lookup(*_abstract(args, kwargs))
        return tree_unflatten(entry.out_tree, entry.jaxpr.out_avals)

    def cache_info(self) -> CacheInfo:
        """How often the function was traced."""
        shared = self._shared
        return CacheInfo(shared.hits, shared.misses, len(shared.entries))

    def clear_cache(self) -> None:
        """Forget all traces and executables of the function."""
        self._shared.entries.clear()
        self._shared.flat.clear()
        self._shared.last = (None, None, None, None)


class _BoundJit:
    """A compiled function as a method: the instance is the first argument."""

    def __init__(self, jitted: JittedFunction[Any, Any], instance: Any) -> None:
        self._jitted = jitted
        self._instance = instance
        update_wrapper(self, jitted)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._jitted(self._instance, *args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The method's program in the backend's language."""
        return self._jitted.lower(self._instance, *args, **kwargs)


class Lowered:
    """A function lowered for one type of arguments; ahead-of-time compilation."""

    def __init__(self, lowered: Any, entry: _Entry, function: JittedFunction[Any, Any]) -> None:
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

    def __init__(self, executable: Any, entry: _Entry, function: JittedFunction[Any, Any]) -> None:
        self._executable = executable
        self._entry = entry
        self._function = function

    def as_text(self) -> str:
        """The program after the compiler's optimizations."""
        return str(self._executable.as_text())

    def cost_analysis(self) -> Any:
        """The compiler's estimate of operations and bytes."""
        return self._executable.cost_analysis()

    def memory_analysis(self) -> Any:
        """The compiler's plan of the memory."""
        return self._executable.memory_analysis()

    @api_boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        entry, leaves, traced = self._function._lookup(args, kwargs)
        if entry is not self._entry:
            expected = ", ".join(a.str_short() for a in self._entry.jaxpr.in_avals)
            given = ", ".join(a.str_short() for a in entry.jaxpr.in_avals)
            raise TypeError(
                f"{self._function!r} was compiled for arguments ({expected}), but was called with "
                f"({given}). Compile again for these, or call the jitted function itself."
            )
        if traced:
            raise TypeError(
                f"{self._function!r} compiled ahead of time takes no traced values; call the "
                f"jitted function itself inside transformations."
            )
        outs = self._executable(*entry.consts, *leaves)
        return tree_unflatten(entry.out_tree, outs)


def argument_paths(fun: Callable[..., Any], args: Any, kwargs: Any) -> list[tuple[str, Any]]:
    """Each leaf of a call's arguments with its path, beginning with the parameter's name."""
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    found = []
    for i, arg in enumerate(args):
        name = names[i] if i < len(names) else f"args[{i}]"
        found += [(name + keystr(path), x) for path, x in tree_flatten_with_path(arg)[0]]
    for name, arg in kwargs.items():
        found += [(name + keystr(path), x) for path, x in tree_flatten_with_path(arg)[0]]
    return found


def _positions(given: int | Iterable[int] | None) -> tuple[int, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, int) else tuple(given)


def _words(given: str | Iterable[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


def _complete(
    fun: Callable[..., Any], positions: tuple[int, ...], names: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions for names and names for positions, so that either way of passing works."""
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return positions, names
    ordered = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    if any(p.kind is p.POSITIONAL_ONLY for p in parameters):
        return positions, names
    known = {p.name for p in parameters}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    for name in names:
        if name not in known and not takes_any:
            raise ValueError(
                f"jit of {describe_function(fun)} was given the argument name {name!r}, but its "
                f"parameters are {', '.join(sorted(known))}."
            )
    more = tuple(ordered.index(n) for n in names if n in ordered)
    other = tuple(ordered[i] for i in positions if -len(ordered) <= i < len(ordered))
    return tuple(dict.fromkeys(positions + more)), tuple(dict.fromkeys(names + other))


def _present(positions: Sequence[int], args: Any) -> set[int]:
    """Positions counted from the front, without those that a call does not reach."""
    return {i % len(args) for i in positions if -len(args) <= i < len(args)}


def _split_static(fun: Callable[..., Any], options: _Options, args: Any, kwargs: Any) -> Any:
    """The arguments without the static ones, and the static ones as a part of the cache key."""
    static = _present(options.static_argnums, args)
    dynamic_args = tuple([x for i, x in enumerate(args) if i not in static])
    dynamic_kwargs = {k: v for k, v in kwargs.items() if k not in options.static_argnames}
    statics = [(i, args[i]) for i in sorted(static)]
    statics += [(k, v) for k, v in sorted(kwargs.items()) if k in options.static_argnames]
    for name, value in statics:
        try:
            hash(value)
        except TypeError:
            raise TypeError(
                f"jit of {describe_function(fun)}: the static argument {name!r} is not hashable: "
                f"{value!r:.80} of type {type(value).__name__}. Static arguments are part of the "
                f"cache key; pass a tuple instead of a list, or a frozen class."
            ) from None
    # The type belongs to the key, because 1 == 1.0 == True.
    return dynamic_args, dynamic_kwargs, tuple([(n, type(v), v) for n, v in statics])


def _with_static(
    fun: Callable[..., Any], options: _Options, args: Any, kwargs: Any
) -> Callable[..., Any]:
    """The function of the arguments that are not static."""
    static = _present(options.static_argnums, args)
    static_kwargs = {k: v for k, v in kwargs.items() if k in options.static_argnames}

    def dynamic(*dynamic_args: Any, **dynamic_kwargs: Any) -> Any:
        given = iter(dynamic_args)
        full = [args[i] if i in static else next(given) for i in range(len(args))]
        return fun(*full, **dynamic_kwargs, **static_kwargs)

    return dynamic


class _Abstract(Tracer):
    """Stands for an argument of which only the type is known."""

    __slots__ = ("aval",)

    aval: Any  # a slot, in place of the property of the base

    def __init__(self, aval: Any) -> None:
        self.aval = aval


def _abstract(args: Any, kwargs: Any) -> tuple[Any, Any]:
    leaves, tree = tree_flatten((args, kwargs))
    stand_ins = [_Abstract(x) if isinstance(x, AbstractValue) else x for x in leaves]
    return tree_unflatten(tree, stand_ins)  # type: ignore[no-any-return]


@overload
def jit(
    fun: Callable[P, R],
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    backend: str | None = None,
    inline: bool = False,
) -> JittedFunction[P, R]: ...
@overload
def jit(
    fun: None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    backend: str | None = None,
    inline: bool = False,
) -> Callable[[Callable[P, R]], JittedFunction[P, R]]: ...
def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    backend: str | None = None,
    inline: bool = False,
) -> Any:
    """A function that runs compiled.

    It is traced at the first call with arguments of a new type (structure, shapes, dtypes, weak
    types, values of static arguments); later calls run the compiled program. With no compiling
    backend installed the program is interpreted.

    Args:
        fun: a function of arrays and trees of arrays, without side effects.
        static_argnums: positions of arguments that are hashable Python values, not arrays; the
            function is traced anew for each value.
        static_argnames: the names of such arguments.
        donate_argnums: positions of arguments whose memory results may reuse; their arrays cannot
            be used afterwards.
        donate_argnames: the names of such arguments.
        keep_unused: whether arguments that the function does not use are passed all the same.
        backend: the name of the backend; by default ``config.backend`` or the best installed.
        inline: whether a call inside another traced function is dissolved into it.

    Returns:
        A function with the same arguments; it has ``lower``, ``trace``, ``eval_shape``,
        ``cache_info`` and ``clear_cache``.

    Raises:
        TypeError: when an argument is neither an array nor static; the message names it.

    >>> from bindax_core import jit
    >>> @jit
    ... def f(x, y):
    ...     print("tracing!")
    ...     return x * y
    >>> float(f(2.0, 3.0))
    tracing!
    6.0
    >>> float(f(3.0, 4.0))
    12.0
    """
    if fun is None:
        return lambda f: jit(
            f,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            keep_unused=keep_unused,
            backend=backend,
            inline=inline,
        )
    if not callable(fun):
        raise TypeError(f"jit takes a function, but got {fun!r:.80} of type {type(fun).__name__}.")
    statics = _complete(fun, _positions(static_argnums), _words(static_argnames))
    donated = _complete(fun, _positions(donate_argnums), _words(donate_argnames))
    options = _Options(*statics, *donated, keep_unused, inline, backend)
    return JittedFunction(fun, options)


def abstractify(x: Any, name: str) -> Any:
    """The type of a value, or of anything with a shape and a dtype."""
    if isinstance(x, AbstractValue):
        return x
    if is_value(x):
        return typeof(x)
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return ShapedArray(tuple(x.shape), x.dtype)
    raise TypeError(f"{name}: {unknown_type_message(x)}")


def _staged(
    name: str, fun: Callable[..., Any], static_argnums: tuple[int, ...], args: Any, kwargs: Any
) -> tuple[ClosedJaxpr, PyTreeDef]:
    options = _Options(static_argnums=static_argnums)
    dynamic_args, dynamic_kwargs, _ = _split_static(fun, options, args, kwargs)
    leaves, tree = tree_flatten((dynamic_args, dynamic_kwargs))
    avals = [abstractify(x, name) for x in leaves]
    flat_function, out_tree = flatten_function(_with_static(fun, options, args, kwargs), tree)
    jaxpr = trace_to_jaxpr(flat_function, avals, Origin(name, fun))
    return jaxpr, out_tree()


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function that gives the program of ``fun`` for arguments of the types it is called with.

    Args:
        fun: a function of arrays and trees of arrays.
        static_argnums: positions of arguments that are Python values, not arrays.
        return_shape: whether to return also the types of the results in their structure.

    Returns:
        A function from arguments, or their types, to a ``ClosedJaxpr``.

    >>> from bindax_core import make_jaxpr
    >>> print(make_jaxpr(lambda x: 2.0 * x)(3.0))
    { lambda a:float64[] .
      let b:float64[] = mul 2.0 a
      in ( b ) }
    """

    @wraps(fun)
    @api_boundary
    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        jaxpr, out_tree = _staged("make_jaxpr", fun, _positions(static_argnums), args, kwargs)
        if return_shape:
            return jaxpr, tree_unflatten(out_tree, jaxpr.out_avals)
        return jaxpr

    return jaxpr_of


@api_boundary
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The types of the results of a function, without computing them.

    Args:
        fun: a function of arrays and trees of arrays.
        args: the arguments, or their types.
        kwargs: keyword arguments, or their types.

    Returns:
        A ``ShapedArray`` for each result, in the structure of the output.

    >>> import numpy as np
    >>> from bindax_core import eval_shape
    >>> eval_shape(lambda x: x * x, np.zeros((3, 2), np.float32))
    ShapedArray(float32[3,2])
    """
    jaxpr, out_tree = _staged("eval_shape", fun, (), args, kwargs)
    return tree_unflatten(out_tree, jaxpr.out_avals)
