"""The cache of ``jit``: traced functions by the types of arguments, the oldest dropped."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bindax_core.extend import (
    Array,
    CacheEntry,
    ClosedJaxpr,
    PyTreeDef,
    Tracer,
    typeof,
)
from bindax_transforms.compilation._known_calls import KnownCalls
from bindax_transforms.compilation._references import CarriedReferences
from bindax_transforms.compilation.recompilation import Compilations
from bindax_transforms.compilation.sharding_constraint import placements_of_results
from bindax_transforms.staging.static_arguments import JitOptions, refuse_incomparable

entries_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    # Held over a fork, so that no thread that the child lacks holds it there.
    os.register_at_fork(
        before=entries_lock.acquire,
        after_in_parent=entries_lock.release,
        after_in_child=entries_lock.release,
    )


class CacheInfo(NamedTuple):
    """Counts of the traces of a compiled function, and of their repeated uses."""

    hits: int
    misses: int
    size: int


class Entry(CacheEntry):
    """A traced function for one type of arguments."""

    def __init__(
        self,
        jaxpr: ClosedJaxpr,
        consts: list[Any],
        tree: PyTreeDef,
        out_tree: PyTreeDef,
        params: dict[str, Any],
        shared: Shared,
        key: Any,
        references: CarriedReferences | None = None,
    ) -> None:
        super().__init__()
        self.references = references
        self.closing: dict[Any, Any] = {}  # functions that close over references, by those
        self.jaxpr = jaxpr
        self.consts = consts
        self.closes_over_tracers: bool = any(isinstance(c, Tracer) for c in consts)
        if references is not None and not all(x.is_lasting for x in references.captured):
            self.closes_over_tracers = True
        self.tree = tree
        self.out_tree = out_tree
        self.out_is_leaf: bool = out_tree.num_leaves == out_tree.num_nodes == 1
        self.unflatten: Callable[[Iterable[Any]], Any] = out_tree.unflatten
        self.params = params
        self.out_placements: list[Any] = placements_of_results(out_tree, shared.shardings)
        self.run: Callable[[Sequence[Any]], Sequence[Any]] | None = None
        self.run_known: KnownRun | None = None
        # No cycle: memory mappings go with the last reference.
        self.shared: weakref.ref[Shared] = weakref.ref(shared)
        self.key = key
        self.forms: list[tuple[weakref.ref[CallForm], Any]] = []  # that have it, with their keys

    @property
    def num_closed_over(self) -> int:
        """The number of operands before the arguments."""
        return len(self.consts) + (len(self.references.captured) if self.references else 0)

    @property
    def out_avals(self) -> list[Any]:
        """The types of the results, which values of references come after."""
        return self.jaxpr.out_avals[: self.out_tree.num_leaves]

    def operands(self, leaves: Sequence[Any], names: Callable[[], list[str]]) -> list[Any]:
        """The operands of the program: what it closes over, and the arguments."""
        if self.references is not None:
            leaves = self.references.operands(leaves, names)
        return [*self.consts, *leaves]

    def drop(self) -> None:
        """Remove it from the cache of its function."""
        self.run = self.run_known = None
        shared = self.shared()
        if shared is None:
            return
        with entries_lock:
            shared.known.forget(self)
            if shared.entries.get(self.key) is self:
                del shared.entries[self.key]
            for reference, key in self.forms:
                form = reference()
                if form is not None:
                    form.forget(key)
                    shared.forget(form)


KnownRun: TypeAlias = Callable[[Sequence[Any]], Sequence[Any] | None]
"""From the leaves of the arguments to the results; None for leaves of other types."""


def known_run(entry: Entry, executable: Any) -> KnownRun:
    """The run of a program after a look at the types of the leaves, in one step where it can be."""
    consts, run = entry.consts, getattr(executable, "run_known", None)
    if run is not None:
        return (lambda leaves: run([*consts, *leaves])) if consts else run
    avals, unchecked = list(entry.key[1]), entry.run

    def run_known(leaves: Sequence[Any]) -> Sequence[Any] | None:
        return unchecked([*consts, *leaves]) if plain_avals(leaves) == avals else None  # type: ignore[misc]

    return run_known


_OPERANDS = frozenset({Array, np.ndarray, bool, int, float, complex})
"""Types of operands that are no tracers, and wrap none."""


def plain_avals(leaves: Sequence[Any]) -> list[Any]:
    """The types of leaves; those of no entry when one is a tracer, or no operand itself."""
    avals: list[Any] = []
    for x in leaves:
        kind = type(x)
        if kind is Array:
            avals.append(x.aval)
        elif kind in _OPERANDS:
            avals.append(typeof(x))
        else:
            return [None]
    return avals


_NONE: tuple[Any, Any, Any] = (None, None, None)


class CallForm:
    """The calls of a function whose arguments have one structure and one set of static values.

    Attributes:
        tree: the structure of ``(args, kwargs)`` without the static arguments; None of flat calls,
            whose arguments are the leaves, those by name in the order of the names.
        key: the static values, with their names and types, and the names of the other arguments.
        entries: the traced functions, by settings and types of the leaves.
        last: the one that was used last: its settings, how it runs, and itself.
    """

    __slots__ = ("__weakref__", "entries", "key", "last", "tree")

    tree: PyTreeDef | None
    key: Any

    def __init__(self, tree: PyTreeDef | None = None, key: Any = ()) -> None:
        self.tree = tree
        self.key = key
        self.entries: dict[Any, Entry] = {}
        self.last = _NONE

    def find(self, settings: Any, avals: Any) -> Entry | None:
        """The traced function for settings and types of leaves, if there is one."""
        entry = self.entries.get((settings, *avals))
        if entry is not None and entry.run_known is not None:
            self.last = (settings, entry.run_known, entry)
        return entry

    def remember(self, entry: Entry, key: Any) -> None:
        """Find an entry again by settings and types of leaves."""
        if self.entries.get(key) is not entry:
            self.entries[key] = entry
            entry.forms.append((weakref.ref(self), key))

    def forget(self, key: Any) -> None:
        """Undo ``remember``."""
        self.last = _NONE
        self.entries.pop(key, None)


NO_FORM = CallForm()
"""The form of calls that look like none before."""


class Shared:
    """State shared by all ``jit(fun)`` of one function and the same options.

    Attributes:
        entries: the traced functions, by structure, types, static values and settings.
        flat: the form of flat calls without static values and names.
        forms: the others, by structure and key.
        recent: of those, the one that was used last, by key.
        is_flat: whether the last call that was looked up was a flat one.
        known: the last calls, for an accelerator.
        hits: how often an entry was found.
        misses: how often the function was traced.
        shardings: what ``jit`` was given for arguments and results.
        compilations: those of the function, for the warning that there are many.
    """

    def __init__(self, options: JitOptions) -> None:
        self.shardings = options.shardings
        self.compilations: Compilations = Compilations()
        self.entries: dict[Any, Entry] = {}
        self.known: KnownCalls = KnownCalls(options)
        self.hits = 0
        self.misses = 0
        self.forget_forms()

    def __del__(self) -> None:
        self.compilations.end(self.hits + self.known.hits)

    def forget_forms(self) -> None:
        """Forget how calls looked."""
        self.flat: CallForm = CallForm()
        self.forms: dict[Any, CallForm] = {}
        self.recent: dict[Any, CallForm] = {}
        self.is_flat = True
        self.known.forget()

    def forget(self, form: CallForm) -> None:
        """Forget a form if it has no entries; the lock is held."""
        if form.entries:
            return
        for table, key in ((self.forms, (form.tree, form.key)), (self.recent, form.key)):
            if table.get(key) is form:
                del table[key]

    def find(self, key: Any, fun: Callable[..., Any]) -> Entry | None:
        """The entry of a key, if there is one; the function is that of the message of an error."""
        try:
            return self.entries.get(key)
        except Exception:
            refuse_incomparable(fun, key[2], [known[2] for known in self.entries])
            raise

    def add(self, entry: Entry) -> None:
        """Store an entry under its key."""
        with entries_lock:
            self.entries[entry.key] = entry

    def rename(self, entry: Entry, key: Any, tree: PyTreeDef) -> None:
        """Store an entry under an equal key, so that the next lookup compares identities."""
        with entries_lock:
            entries = {k: e for k, e in self.entries.items() if e is not entry}
            entries[key] = entry
            entry.key, entry.tree = key, tree
            self.entries = entries

    def remember(
        self, entry: Entry, key: Any, tree: PyTreeDef | None, names: tuple[str, ...]
    ) -> None:
        """Find an entry again by the form of the call; of flat calls ``tree`` is None."""
        _, avals, statics, settings = key
        form_key = (statics, *names) if names else statics
        with entries_lock:
            form = self.flat
            if tree is not None or form_key:
                form = self.forms.setdefault((tree, form_key), CallForm(tree, form_key))
                form.tree = tree  # an equal one, which comes with the next calls too
                self.recent[form_key] = form
            form.remember(entry, (settings, *avals))


_shared: weakref.WeakKeyDictionary[Any, dict[JitOptions, Shared]] = weakref.WeakKeyDictionary()


def shared_of(fun: Callable[..., Any], options: JitOptions) -> Shared:
    """Return the state of a function and options, the same one each time."""
    try:
        return _shared.setdefault(fun, {}).setdefault(options, Shared(options))
    except TypeError:  # a callable without hash or weak references has a cache of its own
        return Shared(options)
