"""The settings: how each is read from the environment, its default, and the values it takes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Environment = Mapping[str, str]

_OFF = ("0", "false", "no", "off")
_ON = ("1", "true", "yes", "on")


def _text(text: str) -> Any:
    return text


def _mode(text: str) -> Any:
    word = text.lower()
    return True if word in _ON else False if word in _OFF else word


def _flag(text: str) -> Any:
    return text.lower() not in _OFF


def _number(text: str) -> Any:
    return int(text) if text.isdecimal() else text


def _one_of(*choices: Any) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if type(value).__module__ == "numpy" and value.shape == ():
            value = value.item()
        if isinstance(value, bool | int | str):
            for choice in choices:
                if value == choice:
                    return choice
        raise ValueError(f"one of {', '.join(map(repr, choices))}")

    return check


def _count(value: Any) -> Any:
    if type(value) is int and value > 0:
        return value
    raise ValueError("a positive integer")


def _name(value: Any) -> Any:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError("a name")


def _optional_name(value: Any) -> Any:
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    raise ValueError("a name or None")


def _platforms(value: Any) -> Any:
    names = value.split(",") if isinstance(value, str) else ()
    if value is None or (names and all(re.fullmatch(r"[\w-]+", name.strip()) for name in names)):
        return value
    raise ValueError("names of platforms in one string, such as 'cuda,cpu', or None")


def _directory(value: Any) -> Any:
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if value is None or (isinstance(path, str) and path.strip() and "\0" not in path):
        return value
    raise ValueError("the path of a directory or None")


def _device(value: Any) -> Any:
    if value is None or (hasattr(value, "platform") and hasattr(value, "id")):
        return value
    raise TypeError("one of bindax.devices() or None")


def _anything(value: Any) -> Any:
    return value


class Setting(NamedTuple):
    """One setting.

    Attributes:
        default: its value where nothing says otherwise.
        check: gives the value to keep for a value that is given; raises an error whose text says
            what the value must be.
        read: gives the value that a text in the environment means; None for a setting that no
            text can name.
    """

    default: Any
    check: Callable[[Any], Any]
    read: Callable[[str], Any] | None = _text


_ON_OFF = Setting(False, _one_of(False, True), _flag)
_OPTIONAL = Setting(None, _optional_name)
_GUARD = Setting("allow", _one_of("allow", "log", "disallow", "log_explicit", "disallow_explicit"))

SETTINGS: dict[str, Setting] = {
    "enable_x64": Setting("explicit", _one_of("explicit", True, False), _mode),
    "default_dtype_bits": Setting(32, _one_of(32, 64), _number),
    "check_jaxprs": _ON_OFF,
    "check_rules": _ON_OFF,
    "compiled_programs": Setting(4096, _count, _number),
    "compilation_cache_dir": Setting(None, _directory),
    "compilation_cache_bytes": Setting(1 << 30, _count, _number),
    "traceback": Setting("filtered", _one_of("filtered", "full")),
    "backend": _OPTIONAL,
    "platforms": Setting(None, _platforms),
    "derived_rules": Setting("notice", _one_of("notice", "error", "silent")),
    "eager": Setting("numpy", _one_of("numpy", "compile")),
    "default_matmul_precision": _OPTIONAL,
    "num_cpu_devices": Setting(1, _count, _number),
    "conventions": Setting("bindax", _one_of("bindax", "jax")),
    "default_prng_impl": Setting("threefry2x32", _name),
    "threefry_partitionable": _ON_OFF._replace(default=True),
    "transfer_guard_host_to_device": _GUARD,
    "transfer_guard_device_to_host": _GUARD,
    "debug_nans": _ON_OFF,
    "debug_infs": _ON_OFF,
    "debug_key_reuse": _ON_OFF,
    "disable_jit": _ON_OFF,
    "log_compiles": _ON_OFF,
    "explain_cache_misses": _ON_OFF,
    "check_tracer_leaks": _ON_OFF,
    "numpy_rank_promotion": Setting("allow", _one_of("allow", "warn", "raise")),
    "numpy_dtype_promotion": Setting("standard", _one_of("standard", "strict")),
    "default_device": Setting(None, _device, None),
    "mesh": Setting(None, _anything, None),
}
"""All settings, by name."""


def read_environment(name: str, environment: Environment = os.environ) -> tuple[Any, str]:
    """The first value of a setting, and the variable that it comes from or ``"default"``.

    A variable that is empty counts as one that is not set.
    """
    setting = SETTINGS[name]
    variables = [f"BINDAX_{name.upper()}"]
    if name.startswith("transfer_guard"):
        variables.append("BINDAX_TRANSFER_GUARD")
    for variable in variables:
        text = environment.get(variable, "").strip()
        if text and setting.read is not None:
            return setting.read(text), variable
    if name == "num_cpu_devices":  # programs for JAX have it there
        flag = "--xla_force_host_platform_device_count="
        words = environment.get("XLA_FLAGS", "").split()
        counts = [word.removeprefix(flag) for word in words if word.startswith(flag)]
        counts = [count for count in counts if count.isdecimal() and int(count)]
        if counts:
            return int(counts[-1]), "XLA_FLAGS"
    return setting.default, "default"


def checked_value(name: str, value: Any) -> Any:
    """The value to keep for one that is given to a setting.

    Raises:
        ValueError: when the setting does not take the value.
        TypeError: when it takes no value of that type.
    """
    setting = SETTINGS[name]
    try:
        return setting.check(value)
    except (TypeError, ValueError) as error:
        how = f" or by the environment variable BINDAX_{name.upper()}" if setting.read else ""
        raise type(error)(
            f"config.{name} must be {error}, but got {value!r:.200}; it is set by assignment{how}."
        ) from None
