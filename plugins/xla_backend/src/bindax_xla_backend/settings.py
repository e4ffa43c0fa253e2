"""The settings of the XLA backend: its cache of compiled programs, platforms and devices."""

from __future__ import annotations

import os
import re
from typing import Any

from bindax_core.extend import Setting, positive_integer


def _directory(value: Any) -> Any:
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if value is None or (isinstance(path, str) and path.strip() and "\0" not in path):
        return value
    raise ValueError("the path of a directory or None")


def _platforms(value: Any) -> Any:
    names = value.split(",") if isinstance(value, str) else ()
    if value is None or (names and all(re.fullmatch(r"[\w-]+", name.strip()) for name in names)):
        return value
    raise ValueError("names of platforms in one string, such as 'cuda,cpu', or None")


def _read_count(text: str) -> Any:
    """Read a number, or the last that ``XLA_FLAGS`` has, where programs for JAX put it."""
    if "--" not in text:
        return int(text) if text.isdecimal() else text
    counts = re.findall(r"--xla_force_host_platform_device_count=(\d+)(?:\s|$)", text)
    return next((int(count) for count in reversed(counts) if int(count)), None)


compilation_cache_dir: Setting = Setting(
    "compilation_cache_dir",
    None,
    """the directory that compiled programs are kept in for later processes, or None. Loading one
    runs machine code from the file, so the directory must belong to you, and nobody else may be
    able to write to it; otherwise it is not used""",
    check=_directory,
)
compilation_cache_bytes: Setting = Setting(
    "compilation_cache_bytes",
    1 << 30,
    """how large the files in ``compilation_cache_dir`` may be together; the oldest are removed
    first""",
    check=positive_integer,
)
platforms: Setting = Setting(
    "platforms",
    None,
    """the platforms that programs may run on, the preferred one first, such as ``"cuda,cpu"``; one
    that cannot be used is an error then. With None they are the CPU and those of the PJRT plugins
    that are installed and work. Read when the first program is compiled""",
    check=_platforms,
)
num_cpu_devices: Setting = Setting(
    "num_cpu_devices",
    1,
    """how many devices the CPU is divided into, to try programs for several devices out; read at
    the first use of a device""",
    read=_read_count,
    check=positive_integer,
    variables=("BINDAX_NUM_CPU_DEVICES", "XLA_FLAGS"),
)
