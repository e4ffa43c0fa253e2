"""Process-wide settings, each with an environment variable for its initial value.

Public as ``bindax.config``. A setting is changed by assignment, or for a while with
``config.override``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

_OFF = ("", "0", "false", "no", "off")


def _text(variable: str, default: str) -> str:
    return os.environ.get(variable, default)


def _optional(variable: str, default: str | None) -> str | None:
    return os.environ.get(variable) or default


def _flag(variable: str, default: bool) -> bool:
    return os.environ.get(variable, str(default)).strip().lower() not in _OFF


def _mode(variable: str, default: str) -> bool | str:
    text = os.environ.get(variable, default).strip().lower()
    if text in ("1", "true", "yes", "on"):
        return True
    return text not in _OFF and text


def _number(variable: str, default: int) -> int | str:
    text = os.environ.get(variable, str(default))
    return int(text) if text.isdigit() else text


def _cpu_devices(variable: str, default: int) -> int | str:
    """The number of CPU devices, also from ``XLA_FLAGS``, where programs for JAX have it."""
    flag = "--xla_force_host_platform_device_count="
    for word in os.environ.get("XLA_FLAGS", "").split():
        if word.startswith(flag) and word[len(flag) :].isdigit():
            default = int(word[len(flag) :])
    return _number(variable, default)


def _guard(variable: str, default: str) -> str:
    return os.environ.get(variable, os.environ.get("BINDAX_TRANSFER_GUARD", default))


_ON_OFF = (False, True)
_LEVELS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")
_SETTINGS: dict[str, tuple[Callable[[str, Any], Any], Any, tuple[Any, ...]]] = {
    "enable_x64": (_mode, "explicit", ("explicit", True, False)),
    "default_dtype_bits": (_number, 32, (32, 64)),
    "check_jaxprs": (_flag, False, _ON_OFF),
    "check_rules": (_flag, False, _ON_OFF),
    "compiled_programs": (_number, 4096, ()),
    "compilation_cache_dir": (_optional, None, ()),
    "compilation_cache_bytes": (_number, 1 << 30, ()),
    "traceback": (_text, "filtered", ("filtered", "full")),
    "backend": (_optional, None, ()),
    "platforms": (_optional, None, ()),
    "derived_rules": (_text, "notice", ("notice", "error", "silent")),
    "eager": (_text, "numpy", ("numpy", "compile")),
    "default_matmul_precision": (_optional, None, ()),
    "num_cpu_devices": (_cpu_devices, 1, ()),
    "conventions": (_text, "bindax", ("bindax", "jax")),
    "default_prng_impl": (_text, "threefry2x32", ()),
    "threefry_partitionable": (_flag, True, _ON_OFF),
    "transfer_guard_host_to_device": (_guard, "allow", _LEVELS),
    "transfer_guard_device_to_host": (_guard, "allow", _LEVELS),
    "debug_nans": (_flag, False, _ON_OFF),
    "debug_infs": (_flag, False, _ON_OFF),
    "debug_key_reuse": (_flag, False, _ON_OFF),
    "disable_jit": (_flag, False, _ON_OFF),
    "log_compiles": (_flag, False, _ON_OFF),
    "explain_cache_misses": (_flag, False, _ON_OFF),
    "check_tracer_leaks": (_flag, False, _ON_OFF),
    "numpy_rank_promotion": (_text, "allow", ("allow", "warn", "raise")),
    "numpy_dtype_promotion": (_text, "standard", ("standard", "strict")),
}
"""For each setting the reader of its variable, its default and the legal values, if few are."""

_interned_keys: dict[Any, Any] = {}
"""One tuple for equal ones, so that comparing them is comparing identities."""


class Config:
    """The settings of bindax in this process.

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

    __slots__ = ("_observers", "default_device", "dtype_bits", "mesh", "trace_key", *_SETTINGS)

    enable_x64: Literal["explicit"] | bool
    default_dtype_bits: Literal[32, 64]
    check_jaxprs: bool
    check_rules: bool
    compiled_programs: int
    compilation_cache_dir: str | os.PathLike[str] | None
    compilation_cache_bytes: int
    traceback: Literal["filtered", "full"]
    _observers: dict[str, list[Callable[[Any], None]]]
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
    _COUNTS = ("compiled_programs", "compilation_cache_bytes", "num_cpu_devices")

    def __init__(self) -> None:
        object.__setattr__(self, "_observers", {})
        for name, (read, default, _) in _SETTINGS.items():
            setattr(self, name, read(f"BINDAX_{name.upper()}", default))
        self.default_device = self.mesh = None

    def __setattr__(self, name: str, value: Any) -> None:
        choices = _SETTINGS[name][2] if name in _SETTINGS else ()
        expected = ""
        if choices and not (isinstance(value, Hashable) and value in choices):
            expected = f"one of {', '.join(map(repr, choices))}"
        if name in self._COUNTS and (type(value) is not int or value < 1):
            expected = "a positive integer"
        if expected:
            raise ValueError(
                f"config.{name} must be {expected}, but got {value!r}; it is set by assignment or "
                f"by the environment variable BINDAX_{name.upper()}."
            )
        if name == "compilation_cache_dir" and not isinstance(value, str | os.PathLike | None):
            raise ValueError(
                f"config.compilation_cache_dir must be the path of a directory or None, but got "
                f"{value!r}."
            )
        if name == "enable_x64" and value != "explicit":
            value = bool(value)
        if name == "platforms" and not isinstance(value, str | None):
            raise ValueError(
                f"config.platforms must be names of platforms in one string, such as 'cuda,cpu', "
                f"or None, but got {value!r}."
            )
        if name in self.TRACED and not isinstance(value, Hashable):
            raise TypeError(
                f"config.{name} is part of the keys of compiled programs and must be hashable, but "
                f"got {value!r:.60} of type {type(value).__name__}."
            )
        object.__setattr__(self, name, value)
        if name in self.TRACED:
            explicit = getattr(self, "default_dtype_bits", 32)
            bits = explicit if self.enable_x64 == "explicit" else 64 if self.enable_x64 else 32
            object.__setattr__(self, "dtype_bits", bits)
            key = tuple([getattr(self, traced, None) for traced in self.TRACED])
            object.__setattr__(self, "trace_key", _interned_keys.setdefault(key, key))
        for observer in self._observers.get(name, ()):
            observer(value)

    def observe(self, name: str, observer: Callable[[Any], None]) -> None:
        """Have a function called with a setting's value when it changes, and now if it is on."""
        self._observers.setdefault(name, []).append(observer)
        if getattr(self, name):
            observer(getattr(self, name))

    @contextmanager
    def override(self, **settings: Any) -> Iterator[None]:
        """Change settings inside a ``with`` block, for the whole process."""
        previous = {name: getattr(self, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in previous.items():
                setattr(self, name, value)


config = Config()
