"""Process-wide settings, each with an environment variable for its initial value.

Public as ``bindax.config``. A setting is changed by assignment, or for a while with
``config.override``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal


def _flag(name: str, default: bool) -> bool:
    text = os.environ.get(name)
    if text is None:
        return default
    return text.strip().lower() not in ("", "0", "false", "no", "off")


def _number(name: str, default: int) -> Any:
    text = os.environ.get(name, str(default))
    return int(text) if text.isdigit() else text


class Config:
    """The settings of bindax in this process.

    Attributes:
        default_dtype_bits: 32 or 64; the width of created arrays that name no dtype
            (``BINDAX_DEFAULT_DTYPE_BITS``). Explicit dtypes are honoured either way.
        check_jaxprs: type-check every jaxpr that is built (``BINDAX_CHECK_JAXPRS``).
        check_rules: check the results of each rule when it is first used on operands of some
            types: against abstract evaluation, in structure, and transposes for linearity
            (``BINDAX_CHECK_RULES``). Costs nothing when off.
        traceback: ``"filtered"`` hides the frames of bindax and its plugins in tracebacks,
            ``"full"`` shows them (``BINDAX_TRACEBACK``).
        backend: the name of the backend that ``jit`` uses, or None for the one with the highest
            priority among those installed (``BINDAX_BACKEND``); ``"numpy"`` interprets.
        derived_rules: ``"notice"`` warns once for each primitive that runs on a derived rule,
            ``"error"`` raises, ``"silent"`` does neither (``BINDAX_DERIVED_RULES``).
        compiled_programs: how many compiled programs are kept, over all functions; those used
            longest ago are dropped first, and compiled again when they are called again
            (``BINDAX_COMPILED_PROGRAMS``). All of them together stay below 1,024 times as many
            bytes, since large programs need more of the memory mappings that a process has.
        compilation_cache_dir: the directory that compiled programs are kept in for later
            processes, or None (``BINDAX_COMPILATION_CACHE_DIR``). Loading one runs machine code
            from the file, so the directory must belong to you, and nobody else may be able to
            write to it; otherwise it is not used.
        compilation_cache_bytes: how large the files in it may be together; the oldest are
            removed first (``BINDAX_COMPILATION_CACHE_BYTES``).
        eager: ``"numpy"`` evaluates operations with NumPy, ``"compile"`` each with the backend, as
            JAX does (``BINDAX_EAGER``). It takes effect where a backend that compiles is installed.

    >>> from bindax_core import config
    >>> with config.override(default_dtype_bits=64):
    ...     config.default_dtype_bits
    64
    >>> config.default_dtype_bits
    32
    """

    __slots__ = (
        "_observers",
        "backend",
        "check_jaxprs",
        "check_rules",
        "compilation_cache_bytes",
        "compilation_cache_dir",
        "compiled_programs",
        "default_dtype_bits",
        "derived_rules",
        "eager",
        "traceback",
    )

    default_dtype_bits: Literal[32, 64]
    check_jaxprs: bool
    check_rules: bool
    compiled_programs: int
    compilation_cache_dir: str | os.PathLike[str] | None
    compilation_cache_bytes: int
    traceback: Literal["filtered", "full"]
    _observers: dict[str, Callable[[Any], None]]
    backend: str | None
    derived_rules: Literal["notice", "error", "silent"]
    eager: Literal["numpy", "compile"]

    _CHOICES: dict[str, tuple[Any, ...]] = {  # noqa: RUF012 -- a constant table, never written
        "default_dtype_bits": (32, 64),
        "check_jaxprs": (False, True),
        "check_rules": (False, True),
        "traceback": ("filtered", "full"),
        "derived_rules": ("notice", "error", "silent"),
        "eager": ("numpy", "compile"),
    }

    _COUNTS = ("compiled_programs", "compilation_cache_bytes")

    def __init__(self) -> None:
        object.__setattr__(self, "_observers", {})
        bits = os.environ.get("BINDAX_DEFAULT_DTYPE_BITS", "32")
        self.default_dtype_bits = int(bits) if bits.isdigit() else bits  # type: ignore[assignment]
        self.check_jaxprs = _flag("BINDAX_CHECK_JAXPRS", False)
        self.check_rules = _flag("BINDAX_CHECK_RULES", False)
        self.compiled_programs = _number("BINDAX_COMPILED_PROGRAMS", 4096)
        self.compilation_cache_dir = os.environ.get("BINDAX_COMPILATION_CACHE_DIR") or None
        self.compilation_cache_bytes = _number("BINDAX_COMPILATION_CACHE_BYTES", 1 << 30)
        self.traceback = os.environ.get("BINDAX_TRACEBACK", "filtered")  # type: ignore[assignment]
        self.backend = os.environ.get("BINDAX_BACKEND") or None
        self.derived_rules = os.environ.get("BINDAX_DERIVED_RULES", "notice")  # type: ignore[assignment]
        self.eager = os.environ.get("BINDAX_EAGER", "numpy")  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any) -> None:
        choices = self._CHOICES.get(name)
        if choices is not None and value not in choices:
            expected = ", ".join(repr(choice) for choice in choices)
            raise ValueError(
                f"config.{name} must be one of {expected}, but got {value!r}; it is set by "
                f"assignment or by the environment variable BINDAX_{name.upper()}."
            )
        if name in self._COUNTS and (type(value) is not int or value < 1):
            raise ValueError(
                f"config.{name} must be a positive integer, but got {value!r}; it is set by "
                f"assignment or by the environment variable BINDAX_{name.upper()}."
            )
        if name == "compilation_cache_dir" and not isinstance(value, str | os.PathLike | None):
            raise ValueError(
                f"config.compilation_cache_dir must be the path of a directory or None, but got "
                f"{value!r}."
            )
        object.__setattr__(self, name, value)
        if name in self._observers:
            self._observers[name](value)

    def observe(self, name: str, observer: Callable[[Any], None]) -> None:
        """Have a function called with a setting's value when it changes, and now if it is on."""
        self._observers[name] = observer
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
