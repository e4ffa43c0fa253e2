"""The settings of arrays, of evaluation and of compiled programs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal

from bindax_core._config import config as config
from bindax_core._settings import Setting, derived_setting

_WORDS = {"1": True, "true": True, "yes": True, "on": True}
_WORDS |= {"0": False, "false": False, "no": False, "off": False}
_GUARDS = ("allow", "log", "disallow", "log_explicit", "disallow_explicit")


def positive_integer(value: Any) -> int:
    """Check that a setting is a positive integer."""
    if type(value) is int and value > 0:
        return value
    raise ValueError("a positive integer")


def _optional_name(value: Any) -> str | None:
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise ValueError("a name or None")


def _device(value: Any) -> Any:
    if value is None or (hasattr(value, "platform") and hasattr(value, "id")):
        return value
    raise TypeError("one of bindax.devices() or None")


enable_x64: Setting = Setting(
    "enable_x64",
    "explicit",
    """which 64-bit dtypes there are. ``"explicit"``: those that are named, and those of NumPy
    arrays; True: they are the default, too; False: none, everything that enters is made 32-bit, as
    JAX does by default""",
    choices=("explicit", True, False),
    read=lambda text: _WORDS.get(text.lower(), text.lower()),
    traced=True,
)
default_dtype_bits = Setting(
    "default_dtype_bits",
    32,
    """32 or 64; the width of created arrays that name no dtype while ``enable_x64`` is
    ``"explicit"``. Explicit dtypes are honoured either way""",
    choices=(32, 64),
    traced=True,
)


@derived_setting
def dtype_bits(values: Mapping[str, Any]) -> Literal[32, 64]:
    """The width of created arrays that name no dtype, as ``enable_x64`` and the default say."""
    mode = values["enable_x64"]
    return values["default_dtype_bits"] if mode == "explicit" else 64 if mode else 32


def disable_x64() -> AbstractContextManager[None]:
    """Have no 64-bit dtype: everything that enters is made 32-bit, as JAX does by default.

    >>> from bindax_core import config
    >>> with disable_x64():
    ...     config.enable_x64
    False
    """
    return enable_x64(False)


@derived_setting
def program_key(values: Mapping[str, Any]) -> tuple[Any, Any]:
    """Settings as keys of compiled programs hold them; the same object until one changes."""
    return values["trace_key"], values["backend"]


backend = Setting(
    "backend",
    None,
    """the name of the backend that ``jit`` uses, or None for the one with the highest priority
    among those installed; ``"numpy"`` interprets""",
    check=_optional_name,
)
eager = Setting(
    "eager",
    "numpy",
    """``"numpy"`` evaluates operations with NumPy, ``"compile"`` each with the backend, as JAX
    does. It takes effect where a backend that compiles is installed""",
    choices=("numpy", "compile"),
)
compiled_programs = Setting(
    "compiled_programs",
    4096,
    """how many compiled programs are kept, over all functions; those used longest ago are dropped
    first, and compiled again when they are called again. All of them together stay below 1,024
    times as many bytes, since large programs need more of the memory mappings that a process
    has""",
    check=positive_integer,
)
conventions = Setting(
    "conventions",
    "bindax",
    """``"jax"`` decides as JAX where bindax decides otherwise on purpose: a static index out of
    bounds is taken to the nearest end, the derivative of the absolute value at zero is 1, tangents
    have the dtype of their primals, functions with rules of their own return Python numbers as they
    are, an array in the metadata of a container equals itself, and Python integers are taken modulo
    the range of the dtype of the array that they meet""",
    choices=("bindax", "jax"),
    traced=True,
)
default_device = Setting(
    "default_device",
    None,
    "the device of programs whose operands are on none in particular; None for the first",
    check=_device,
    traced=True,
    variables=(),
)
transfer_guard_host_to_device: Setting = Setting(
    "transfer_guard_host_to_device",
    "allow",
    """what becomes of arrays that have to be brought to a device: ``"allow"``, ``"log"`` or
    ``"disallow"`` those that nobody asked for with ``device_put``; ``"log_explicit"`` or
    ``"disallow_explicit"`` all of them. The variable ``BINDAX_TRANSFER_GUARD`` is for both
    directions""",
    choices=_GUARDS,
    variables=("BINDAX_TRANSFER_GUARD_HOST_TO_DEVICE", "BINDAX_TRANSFER_GUARD"),
)
transfer_guard_device_to_host: Setting = Setting(
    "transfer_guard_device_to_host",
    "allow",
    """what becomes of arrays that are brought to the host: as ``transfer_guard_host_to_device``,
    where ``device_get`` asks for it. The memory of CPU devices is the host's: reading it is no
    transfer""",
    choices=_GUARDS,
    variables=("BINDAX_TRANSFER_GUARD_DEVICE_TO_HOST", "BINDAX_TRANSFER_GUARD"),
)


def transfer_guard(new_val: str) -> AbstractContextManager[None]:
    """Choose what becomes of arrays that have to move between host and devices.

    Args:
        new_val: ``"allow"``, ``"log"`` or ``"disallow"`` transfers that nobody asked for with
            ``device_put`` or ``device_get``; ``"log_explicit"`` or ``"disallow_explicit"`` all.

    Raises:
        TransferError: inside the block, at a transfer that is not allowed.

    >>> from bindax_core import transfer_guard
    >>> with transfer_guard("disallow"):
    ...     pass
    """
    return config.override(
        transfer_guard_host_to_device=new_val, transfer_guard_device_to_host=new_val
    )
