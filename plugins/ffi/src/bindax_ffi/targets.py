"""The kernels that are registered, and how the compiler learns of them."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from bindax_core.extend import BackendError, find_backend, kernel_sources

__all__ = [
    "include_dir",
    "pycapsule",
    "register_ffi_target",
    "register_ffi_target_as_batch_partitionable",
    "register_ffi_type",
]

STAGES = ("instantiate", "prepare", "initialize", "execute")


@attrs.define(eq=False)
class _Kernel:
    """Compiled code for one platform; ``is_known`` once the compiler has it."""

    function: Any
    api_version: int
    is_known: bool = False


_kernels: dict[tuple[str, str], _Kernel] = {}
"""By name and platform."""

_numpy_rules: dict[str, Callable[..., Any]] = {}
_lock = threading.RLock()


def register_ffi_target(
    name: str,
    fn: Any = None,
    platform: str = "cpu",
    api_version: int = 1,
    *,
    numpy: Callable[..., Any] | None = None,
) -> None:
    """Give a kernel the name that programs call it by.

    Loads no compiler: one that is installed learns of the kernel when a program needs it.

    Args:
        name: the name, unique in the process; put that of your package before it.
        fn: a capsule of ``pycapsule``, or a dict of them by the stages of XLA's interface
            (``"instantiate"``, ``"prepare"``, ``"initialize"``, ``"execute"``). None with
            ``numpy`` alone.
        platform: where the kernel runs, ``"cpu"``, ``"cuda"`` or ``"rocm"``.
        api_version: 1 for XLA's typed interface; 0 for the older one, which checks nothing.
        numpy: ``(*arrays, **attributes) -> array``, or a sequence of arrays for several results.
            Computes the same with NumPy: used where no compiler is, and for eager calls. Results
            must have the announced shapes and dtypes.

    Raises:
        TypeError: when ``fn`` is no capsule and no dict of capsules, or nothing is given.
        ValueError: when the name is taken by another kernel.

    >>> from bindax_ffi import register_ffi_target
    >>> register_ffi_target("doc.negated", numpy=lambda x: -x)
    """
    if fn is None and numpy is None:
        raise TypeError(
            f"register_ffi_target({name!r}, ...) needs a kernel, a function of NumPy, or both."
        )
    if numpy is not None and not callable(numpy):
        raise TypeError(f"numpy= of register_ffi_target({name!r}) is {numpy!r:.80}, no function.")
    if fn is not None:
        _check_function(name, fn)
        _add_kernel(name, _known(platform), _Kernel(fn, api_version))
    if numpy is not None:
        _numpy_rules[name] = numpy


def _known(platform: str) -> str:
    """The name that programs have for a platform."""
    if not isinstance(platform, str):
        raise TypeError(f"platform must be the name of one, but it is {platform!r:.60}.")
    return {"gpu": "cuda", "host": "cpu"}.get(platform.lower(), platform.lower())


def _check_function(name: str, fn: Any) -> None:
    for part in fn.values() if isinstance(fn, Mapping) else [fn]:
        if type(part).__name__ != "PyCapsule":
            raise TypeError(
                f"register_ffi_target({name!r}, fn) takes a capsule, but got {part!r:.80}; make "
                f"one of a ctypes function with pycapsule(library.function)."
            )
    unknown = [] if not isinstance(fn, Mapping) else [key for key in fn if key not in STAGES]
    if unknown:
        raise TypeError(
            f"register_ffi_target({name!r}, fn): there is no stage {unknown[0]!r}; the stages are "
            f"{', '.join(map(repr, STAGES))}."
        )


def _add_kernel(name: str, platform: str, kernel: _Kernel) -> None:
    with _lock:
        old = _kernels.get((name, platform))
        if old is not None and _addresses(old.function) == _addresses(kernel.function):
            return
        if old is not None and old.is_known:
            raise ValueError(
                f"register_ffi_target: the name {name!r} is taken on {platform} by another kernel, "
                f"which a program has used already; XLA keeps it for the life of the process. "
                f"Choose another name."
            )
        _kernels[name, platform] = kernel


def _addresses(fn: Any) -> Any:
    if isinstance(fn, Mapping):
        return {key: _addresses(part) for key, part in fn.items()}
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return pointer(fn, name(fn))


def register_ffi_type(name: str, type_registration: Any, platform: str = "cpu") -> None:
    """Register a type of state that a kernel keeps between its stages.

    Args:
        name: the name of the type.
        type_registration: ``{"type_id": capsule}``, with a capsule for ``"type_info"`` where the
            type has one.
        platform: as in ``register_ffi_target``.

    Raises:
        TypeError: when the registration is no such dict.
        BackendError: when no compiler is installed, or XLA refuses the type.
    """
    if not isinstance(type_registration, dict) or "type_id" not in type_registration:
        raise TypeError(
            f"register_ffi_type takes a dict with a capsule for 'type_id' as type_registration, "
            f"but got {type_registration!r:.80}."
        )
    _foreign("register_ffi_type").register_type(name, type_registration, _known(platform))


def register_ffi_target_as_batch_partitionable(name: str) -> None:
    """Let the partitioner split calls of a kernel along their leading axes.

    Raises:
        BackendError: when no compiler is installed.
    """
    _foreign("register_ffi_target_as_batch_partitionable").batch_partitionable(name)


def pycapsule(funcptr: Any) -> Any:
    """A capsule with the address of a ctypes function.

    Args:
        funcptr: a function of a library that ctypes has loaded. The library must stay loaded.

    Returns:
        What ``register_ffi_target`` takes.

    >>> import ctypes
    >>> from bindax_ffi import pycapsule
    >>> type(pycapsule(ctypes.pythonapi.Py_IsInitialized)).__name__
    'PyCapsule'
    """
    if not hasattr(funcptr, "argtypes"):
        raise TypeError(f"pycapsule takes a function of a library, but got {funcptr!r:.80}.")
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.cast(funcptr, ctypes.c_void_p), None, None)


def include_dir() -> str:
    """The directory of the headers that kernels include, ``xla/ffi/api/ffi.h`` and others.

    Raises:
        BackendError: when no compiler is installed: the headers come with ``jaxlib``.

    >>> from importlib.util import find_spec
    >>> find_spec("jaxlib") is None or include_dir().endswith("include")
    True
    """
    return str(_foreign("include_dir").include_dir())


def _foreign(caller: str) -> Any:
    try:
        return getattr(find_backend("xla"), "foreign")  # noqa: B009 -- of that backend alone
    except BackendError as error:
        raise BackendError(
            f"{caller} needs a compiler for foreign kernels: install bindax-xla-backend."
        ) from error


def numpy_rule(name: str) -> Callable[..., Any] | None:
    """The function of NumPy for a target, if there is one."""
    return _numpy_rules.get(name)


def has_kernel(name: str, platform: str) -> bool:
    """Tell whether there is compiled code for a platform, and have the compiler know it.

    Targets that others brought count too: those of XLA, and those of JAX in the same process.
    """
    foreign = _foreign("ffi_call")
    kernel = _kernels.get((name, platform))
    if kernel is None:
        return bool(foreign.has_target(name, platform))
    with _lock:
        if not kernel.is_known:
            foreign.register_target(name, kernel.function, platform, kernel.api_version)
            kernel.is_known = True
    return True


def missing_target(name: str, platform: str) -> str:
    """The text of the error for a name that nobody registered."""
    from difflib import get_close_matches

    known = sorted({one for one, _ in _kernels} | set(_numpy_rules))
    others = sorted(where for one, where in _kernels if one == name)
    if others:
        advice = f"It is registered for {', '.join(others)} alone"
    elif near := get_close_matches(name, known, 1):
        advice = f"Did you mean {near[0]!r}"
    else:
        advice = f"Registered are {', '.join(map(repr, known)) or 'none'}"
    return (
        f"ffi_call: no kernel {name!r} is registered for the platform {platform!r}. {advice}. "
        f"Register it with register_ffi_target({name!r}, capsule, platform={platform!r}), or a "
        f"function of NumPy with numpy=, before the program is compiled."
    )


kernel_sources.append(has_kernel)
