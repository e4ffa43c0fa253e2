"""The settings of random numbers."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Setting


def _name(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError("a name")


def _integer(value: Any) -> int:
    if type(value) is int:
        return value
    raise ValueError("an integer")


default_prng_impl: Setting = Setting(
    "default_prng_impl",
    "threefry2x32",
    "the generator of random keys that name none",
    check=_name,
    traced=True,
)
legacy_prng_key: Setting = Setting(
    "legacy_prng_key",
    "allow",
    """``"allow"`` takes arrays of uint32 words, as ``random.PRNGKey`` makes them, as random keys,
    ``"warn"`` warns, ``"error"`` raises""",
    choices=("allow", "warn", "error"),
    traced=True,
)
threefry_partitionable: Setting = Setting(
    "threefry_partitionable",
    True,
    """random numbers of the generator ``threefry2x32`` depend on their key and place alone; False
    for the older form, in which they depend on the array's size too, as in programs for JAX before
    0.5""",
    traced=True,
)
random_seed_offset: Setting = Setting(
    "random_seed_offset",
    0,
    "what is added to the seeds of random keys, to run a program again with other numbers",
    check=_integer,
    traced=True,
)
debug_key_reuse: Setting = Setting(
    "debug_key_reuse",
    False,
    "raise an error where a random key is used twice, inside compiled programs too",
    traced=True,
)
