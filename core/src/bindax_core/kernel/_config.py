"""Settings, each with an environment variable for its initial value.

Public as ``bindax.config``. An assignment changes a setting for the process; ``config.override``
changes it inside a ``with`` block, for what runs in that block alone.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Literal, NamedTuple

from bindax_core.errors import suggestion
from bindax_core.kernel._settings import SETTINGS, checked_value, read_environment

DERIVED: Final = ("dtype_bits", "promotion", "trace_key")
"""The consequences of settings, kept since they are asked for often."""

_MOST_KEYS: Final = 1024
_interned_keys: dict[Any, Any] = {}
"""One tuple for equal ones, so that comparing them is comparing identities."""


class Promotion(NamedTuple):
    """The default width and the two settings that the promotion of dtypes depends on."""

    bits: int
    enable_x64: Literal["explicit"] | bool
    numpy_dtype_promotion: str


class Block:
    """The settings of one ``with`` block, until it ends, in whatever thread or task that is."""

    __slots__ = ("is_open", "settings")

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.is_open = True


class _View:
    """The values of all settings at a point inside blocks."""

    __slots__ = ("blocks", "values", "version")

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self.blocks = blocks
        self.values: dict[str, Any] = {}
        self.version = -1

    def refresh(self, config: Config) -> None:
        """Compute the values again, as a block ended or a setting was assigned to."""
        version = config._version
        values = {name: slot.__get__(config) for name, slot in _SLOTS.items()}
        for block in self.blocks:
            if block.is_open:
                values.update(block.settings)
        self.values = values | _derived(values)
        self.version = version


_here: ContextVar[_View | None] = ContextVar("bindax settings", default=None)
"""The blocks around this point of the program; each thread and each task has its own."""


def _derived(values: Mapping[str, Any]) -> dict[str, Any]:
    """The consequences of settings."""
    mode = values["enable_x64"]
    bits = values["default_dtype_bits"] if mode == "explicit" else 64 if mode else 32
    if len(_interned_keys) >= _MOST_KEYS:
        _interned_keys.clear()
    key = tuple([values[name] for name in Config.TRACED])
    promotion = Promotion(bits, mode, values["numpy_dtype_promotion"])
    key = _interned_keys.setdefault(key, key)
    return {"dtype_bits": bits, "promotion": promotion, "trace_key": key}


class Config:
    """The settings of bindax.

    Where no ``with`` block says otherwise, their values are those of the process.

    Each but ``default_device`` and ``mesh`` has an environment variable for its initial value:
    ``BINDAX_`` and its name in capitals.

    Attributes:
        enable_x64: which 64-bit dtypes there are. ``"explicit"``: those that are named, and those
            of NumPy arrays; True: they are the default, too; False: none, everything that enters is
            made 32-bit, as JAX does by default.
        default_dtype_bits: 32 or 64; the width of created arrays that name no dtype while
            ``enable_x64`` is ``"explicit"``. Explicit dtypes are honoured either way.
        check_jaxprs: type-check every jaxpr that is built.
        check_rules: check the results of each rule when it is first used on operands of some types:
            against abstract evaluation, in structure, and transposes for linearity. Costs nothing
            when off.
        traceback: ``"filtered"`` hides the frames of bindax and its plugins in tracebacks,
            ``"full"`` shows them.
        backend: the name of the backend that ``jit`` uses, or None for the one with the highest
            priority among those installed; ``"numpy"`` interprets.
        platforms: the platforms that programs may run on, the preferred one first, such as
            ``"cuda,cpu"``; one that cannot be used is an error then. With None they are the CPU and
            those of the PJRT plugins that are installed and work. Read when the first program is
            compiled.
        derived_rules: ``"notice"`` warns once for each primitive that runs on a derived rule,
            ``"error"`` raises, ``"silent"`` does neither.
        compiled_programs: how many compiled programs are kept, over all functions; those used
            longest ago are dropped first, and compiled again when they are called again. All of
            them together stay below 1,024 times as many bytes, since large programs need more of
            the memory mappings that a process has.
        compilation_cache_dir: the directory that compiled programs are kept in for later processes,
            or None. Loading one runs machine code from the file, so the directory must belong to
            you, and nobody else may be able to write to it; otherwise it is not used.
        compilation_cache_bytes: how large the files in it may be together; the oldest are removed
            first.
        eager: ``"numpy"`` evaluates operations with NumPy, ``"compile"`` each with the backend, as
            JAX does. It takes effect where a backend that compiles is installed.
        debug_nans: raise an error that names the primitive and the line where a NaN comes from,
            inside compiled programs too. Each result is looked at, and a program that has one is
            interpreted again, effects included. Costs nothing when off.
        debug_infs: the same for infinities.
        debug_key_reuse: raise an error where a random key is used twice, inside compiled programs
            too.
        disable_jit: ``jit`` calls the function itself, operation by operation, with concrete
            values.
        log_compiles: log each program that ``jit`` traces and compiles, with the time it takes, by
            the logger ``"bindax"`` as a warning.
        explain_cache_misses: log why ``jit`` traces a function again, by the same logger.
        default_matmul_precision: the precision of products that name none, as their argument
            ``precision`` takes it by name; None for that of the backend.
        numpy_rank_promotion: ``"allow"`` broadcasts arrays of different ranks in operators and
            NumPy functions, ``"warn"`` warns, ``"raise"`` raises.
        numpy_dtype_promotion: ``"standard"`` promotes arrays of different dtypes, ``"strict"``
            raises unless all but Python scalars have one dtype.
        transfer_guard_host_to_device: what becomes of arrays that have to be brought to a device:
            ``"allow"``, ``"log"`` or ``"disallow"`` those that nobody asked for with
            ``device_put``; ``"log_explicit"`` or ``"disallow_explicit"`` all of them. The variable
            ``BINDAX_TRANSFER_GUARD`` is for both directions.
        transfer_guard_device_to_host: the same for arrays that are brought to the host, where
            ``device_get`` asks for it. The memory of CPU devices is the host's: reading it is no
            transfer.
        check_tracer_leaks: raise at the end of each trace when a value that was traced in it is
            still kept somewhere. Slow; costs nothing when off.
        default_prng_impl: the generator of random keys that name none.
        threefry_partitionable: random numbers of the generator ``threefry2x32`` depend on their key
            and place alone; False for the older form, in which they depend on the array's size too,
            as in programs for JAX before 0.5.
        conventions: ``"jax"`` decides as JAX where bindax decides otherwise on purpose: a static
            index out of bounds is taken to the nearest end, the derivative of the absolute value at
            zero is 1, tangents have the dtype of their primals, functions with rules of their own
            return Python numbers as they are, and Python integers are taken modulo the range of
            the dtype of the array that they meet.
        num_cpu_devices: how many devices the CPU is divided into, to try programs for several
            devices out; read at the first use of a device.
        default_device: the device of programs whose operands are on none in particular; None for
            the first.
        mesh: the mesh that names in a ``PartitionSpec`` alone refer to, set by ``set_mesh``.

    >>> from bindax_core import config
    >>> with config.override(default_dtype_bits=64):
    ...     config.default_dtype_bits
    64
    >>> config.default_dtype_bits
    32
    """

    __slots__ = (
        "_checks",
        "_lock",
        "_observers",
        "_open",
        "_origins",
        "_version",
        *DERIVED,
        *SETTINGS,
    )

    _checks: dict[str, Callable[[Any], object]]
    _lock: threading.RLock
    _observers: dict[str, list[Callable[[bool], None]]]
    _open: list[Block]
    _origins: dict[str, str]
    _version: int
    enable_x64: Literal["explicit"] | bool
    default_dtype_bits: Literal[32, 64]
    check_jaxprs: bool
    check_rules: bool
    compiled_programs: int
    compilation_cache_dir: str | os.PathLike[str] | None
    compilation_cache_bytes: int
    traceback: Literal["filtered", "full"]
    backend: str | None
    platforms: str | None
    derived_rules: Literal["notice", "error", "silent"]
    eager: Literal["numpy", "compile"]
    debug_nans: bool
    debug_infs: bool
    debug_key_reuse: bool
    disable_jit: bool
    log_compiles: bool
    explain_cache_misses: bool
    default_matmul_precision: str | None
    numpy_rank_promotion: Literal["allow", "warn", "raise"]
    numpy_dtype_promotion: Literal["standard", "strict"]
    transfer_guard_host_to_device: str
    transfer_guard_device_to_host: str
    check_tracer_leaks: bool
    default_prng_impl: str
    threefry_partitionable: bool
    conventions: Literal["bindax", "jax"]
    num_cpu_devices: int
    default_device: Any
    mesh: Any

    dtype_bits: Literal[32, 64]
    """The width of created arrays that name no dtype, as ``enable_x64`` and the default say."""

    promotion: Promotion
    """The settings that the promotion of dtypes depends on, for the keys of caches."""

    trace_key: tuple[Any, ...]
    """The values of the settings that programs depend on, for the keys of caches."""

    TRACED = (
        "enable_x64",
        "default_dtype_bits",
        "default_matmul_precision",
        "numpy_rank_promotion",
        "numpy_dtype_promotion",
        "conventions",
        "default_device",
        "mesh",
        "default_prng_impl",
        "threefry_partitionable",
        "debug_key_reuse",
    )

    def __init__(self) -> None:
        values: dict[str, Any] = {}
        origins: dict[str, str] = {}
        for name in SETTINGS:
            value, origins[name] = read_environment(name)
            values[name] = checked_value(name, value)
        values |= _derived(values)
        values |= {"_checks": {}, "_observers": {}, "_open": [], "_origins": origins}
        values |= {"_lock": threading.RLock(), "_version": 0}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        value = self._checked(name, value)
        with self._lock:
            before, origin = _SLOTS[name].__get__(self), self._origins[name]
            self._put(name, value, "assignment")
            try:
                self._notify(name)
            except BaseException:
                self._put(name, before, origin)
                raise

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"config has no setting {name!r}.{suggestion(name, SETTINGS)}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"config.{name} cannot be deleted; assign another value to it.")

    def __repr__(self) -> str:
        """A table of the settings: their values, and where each comes from."""
        view = _here.get()
        blocks = () if view is None else [block for block in view.blocks if block.is_open]
        given = {name for block in blocks for name in block.settings}
        rows = [("setting", "value", "from")]
        for name in SETTINGS:
            origin = "context" if name in given else self._origins[name]
            rows.append((name, repr(getattr(self, name)), origin))
        first, second = (max(len(row[i]) for row in rows) for i in (0, 1))
        return "\n".join(f"{a:{first}}  {b:{second}}  {c}" for a, b, c in rows)

    def __reduce__(self) -> str:
        return "config"

    def _checked(self, name: str, value: Any) -> Any:
        if name not in SETTINGS:
            getattr(self, name)  # raises, unless it is something that is no setting
            raise AttributeError(f"config.{name} follows from settings and cannot be assigned to.")
        value = checked_value(name, value)
        if name in self.TRACED and not isinstance(value, Hashable):
            raise TypeError(
                f"config.{name} is part of the keys of compiled programs and must be hashable, but "
                f"got {value!r:.60} of type {type(value).__name__}."
            )
        check = self._checks.get(name)
        if check is not None:
            check(value)
        return value

    def _put(self, name: str, value: Any, origin: str) -> None:
        """Change a setting of the process."""
        _SLOTS[name].__set__(self, value)
        self._origins[name] = origin
        values = {one: slot.__get__(self) for one, slot in _SLOTS.items()}
        for one, derived in _derived(values).items():
            _DERIVED[one].__set__(self, derived)
        self._changed()

    def _changed(self) -> None:
        """Have what was computed from the settings computed again."""
        object.__setattr__(self, "_version", self._version + 1)
        # While no block is open, reading a setting is reading a slot, which costs least.
        object.__setattr__(self, "__class__", _ConfigInBlocks if self._open else Config)

    def _notify(self, *names: str) -> None:
        for name in names:
            for observer in self._observers.get(name, ()):
                observer(self.is_on(name))

    def is_on(self, name: str) -> bool:
        """Tell whether a setting is on for the process, or in any block of any thread."""
        values = [block.settings.get(name) for block in list(self._open)]
        return any([_SLOTS[name].__get__(self), *values])

    def observe(self, name: str, observer: Callable[[bool], None]) -> None:
        """Have a function called when a setting changes anywhere, and now if it is on somewhere.

        The function is given ``is_on(name)``. What it prepares asks the setting itself, which may
        be off in the thread that asks.
        """
        with self._lock:
            self._observers.setdefault(name, []).append(observer)
            if self.is_on(name):
                observer(True)

    def check(self, name: str, check: Callable[[Any], object]) -> None:
        """Have a function called with each new value of a setting; it raises to refuse it."""
        self._checks[name] = check

    def update(self, name: str, value: Any) -> None:
        """Change a setting for the process; the same as assigning to the attribute of its name.

        Args:
            name: the name of the setting.
            value: its new value.

        Raises:
            AttributeError: when there is no such setting.
        """
        setattr(self, name, value)

    def enter(self, **settings: Any) -> Block:
        """Begin what ``override`` does; ``leave`` ends it.

        Args:
            settings: the values, by name.
        """
        block = Block({name: self._checked(name, value) for name, value in settings.items()})
        with self._lock:
            self._open.append(block)
            _here.set(_View((*_open_here(), block)))
            self._changed()
            try:
                self._notify(*settings)
            except BaseException:
                self.leave(block)
                raise
        return block

    def leave(self, block: Block) -> None:
        """End what ``enter`` began, in any thread, and in any order with other blocks."""
        with self._lock:
            if not block.is_open:
                return
            block.is_open = False
            self._open.remove(block)
            blocks = _open_here()
            _here.set(_View(blocks) if blocks else None)
            self._changed()
            self._notify(*block.settings)

    def is_inside(self, block: Block) -> bool:
        """Tell whether this point of the program is inside a block that is open."""
        return block in _open_here()

    def in_blocks(self) -> dict[str, Any]:
        """The settings on which programs depend that blocks around this point give, by name."""
        return {k: v for b in _open_here() for k, v in b.settings.items() if k in self.TRACED}

    @contextmanager
    def override(self, **settings: Any) -> Iterator[None]:
        """Change settings inside a ``with`` block, for this thread or asynchronous task alone.

        Threads that are started inside the block see the values of the process; tasks see those of
        the block, until it ends.

        Args:
            settings: the values, by name.
        """
        block = self.enter(**settings)
        try:
            yield
        finally:
            self.leave(block)


def _open_here() -> tuple[Block, ...]:
    view = _here.get()
    return () if view is None else tuple([block for block in view.blocks if block.is_open])


_SLOTS: Final[dict[str, Any]] = {name: vars(Config)[name] for name in SETTINGS}
_DERIVED: Final[dict[str, Any]] = {name: vars(Config)[name] for name in DERIVED}


def _reader(name: str, of_process: Callable[[Any], Any]) -> property:
    find = _here.get

    def read(config: Config) -> Any:
        view = find()
        if view is None:
            return of_process(config)
        if view.version != config._version:
            view.refresh(config)
        return view.values[name]

    return property(read)


_readers: dict[str, Any] = {
    name: _reader(name, slot.__get__) for name, slot in (_SLOTS | _DERIVED).items()
}
_ConfigInBlocks = type("Config", (Config,), _readers | {"__slots__": ()})
"""The class of the settings while blocks are open somewhere: reading asks where one is."""

config = Config()
