"""Settings for the time of a ``with`` block, under the names that JAX programs use.

A setting holds for the thread, or the asynchronous task, that the block is in, until it ends.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Literal

from bindax_core.kernel._config import config

Context = AbstractContextManager[None]


def debug_nans(new_val: bool = True) -> Context:
    """Raise an error that names the primitive and the line where a NaN comes from.

    Args:
        new_val: the value of ``config.debug_nans`` inside the block.

    >>> from bindax_core import debug_nans
    >>> from bindax_lax_basic import log
    >>> with debug_nans():
    ...     log(-1.0)
    Traceback (most recent call last):
    bindax_core.errors.NonFiniteError: invalid value (nan) encountered in log: float64[] at ...
    """
    return config.override(debug_nans=new_val)


def debug_infs(new_val: bool = True) -> Context:
    """Raise an error that names the primitive and the line where an infinity comes from.

    Args:
        new_val: the value of ``config.debug_infs`` inside the block.
    """
    return config.override(debug_infs=new_val)


def disable_jit(disable: bool = True) -> Context:
    """Have ``jit`` call functions themselves, operation by operation, with concrete values.

    Args:
        disable: the value of ``config.disable_jit`` inside the block.

    >>> from bindax_core import disable_jit
    >>> from bindax_transforms import jit
    >>> with disable_jit():
    ...     jit(lambda x: print(x))(2.0)
    2.0
    """
    return config.override(disable_jit=disable)


def enable_x64(new_val: bool | Literal["explicit"] = True) -> Context:
    """Choose which 64-bit dtypes there are: ``config.enable_x64``.

    Args:
        new_val: True for 64 bits where no dtype is named, False for no 64-bit dtype at all,
            ``"explicit"`` for those that are named.

    >>> import numpy as np
    >>> from bindax_core import enable_x64
    >>> from bindax_lax_basic import sin
    >>> with enable_x64(False):
    ...     sin(np.zeros(2))
    Array([0., 0.], dtype=float32)
    """
    return config.override(enable_x64=new_val)


def disable_x64() -> Context:
    """Have no 64-bit dtype: everything that enters is made 32-bit, as JAX does by default."""
    return enable_x64(False)


def log_compiles(new_val: bool = True) -> Context:
    """Log each program that ``jit`` traces and compiles, by the logger ``"bindax"``.

    Args:
        new_val: the value of ``config.log_compiles`` inside the block.
    """
    return config.override(log_compiles=new_val)


def explain_cache_misses(new_val: bool = True) -> Context:
    """Log why ``jit`` traces a function again, by the logger ``"bindax"``.

    Args:
        new_val: the value of ``config.explain_cache_misses`` inside the block.
    """
    return config.override(explain_cache_misses=new_val)


def default_matmul_precision(new_val: str | None) -> Context:
    """Choose the precision of products that name none.

    Args:
        new_val: a name that the argument ``precision`` of products takes, or None.
    """
    return config.override(default_matmul_precision=new_val)


def numpy_rank_promotion(new_val: str) -> Context:
    """Choose what becomes of arrays of different ranks in operators and NumPy functions.

    Args:
        new_val: ``"allow"``, ``"warn"`` or ``"raise"``.
    """
    return config.override(numpy_rank_promotion=new_val)


def numpy_dtype_promotion(new_val: str) -> Context:
    """Choose what becomes of arrays of different dtypes in operators and NumPy functions.

    Args:
        new_val: ``"standard"`` or ``"strict"``.
    """
    return config.override(numpy_dtype_promotion=new_val)


def transfer_guard(new_val: str) -> Context:
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


def transfer_guard_host_to_device(new_val: str) -> Context:
    """Choose what becomes of arrays that have to be brought to a device.

    Args:
        new_val: as for ``transfer_guard``.
    """
    return config.override(transfer_guard_host_to_device=new_val)


def transfer_guard_device_to_host(new_val: str) -> Context:
    """Choose what becomes of arrays that have to be brought to the host.

    Args:
        new_val: as for ``transfer_guard``.
    """
    return config.override(transfer_guard_device_to_host=new_val)


def check_tracer_leaks(new_val: bool = True) -> Context:
    """Raise at the end of each trace when a value that was traced in it is still kept somewhere.

    Args:
        new_val: the value of ``config.check_tracer_leaks`` inside the block.

    Raises:
        UnexpectedTracerError: inside the block, naming the value and where it comes from.

    >>> from bindax_core import check_tracer_leaks
    >>> from bindax_transforms import make_jaxpr
    >>> kept = []
    >>> with check_tracer_leaks():
    ...     program = make_jaxpr(kept.append)(1.0)
    Traceback (most recent call last):
    bindax_core.errors.UnexpectedTracerError: a traced value outlived its trace: float64[] in ...
    """
    return config.override(check_tracer_leaks=new_val)


def default_prng_impl(new_val: str) -> Context:
    """Choose the generator of random keys that name none.

    Args:
        new_val: its name, such as ``"threefry2x32"``, ``"rbg"`` or ``"unsafe_rbg"``.
    """
    return config.override(default_prng_impl=new_val)


def threefry_partitionable(new_val: bool = True) -> Context:
    """Choose the form of the generator ``threefry2x32``.

    Args:
        new_val: the value of ``config.threefry_partitionable`` inside the block.

    >>> from bindax_core import config, threefry_partitionable
    >>> with threefry_partitionable(False):
    ...     config.threefry_partitionable
    False
    """
    return config.override(threefry_partitionable=new_val)
