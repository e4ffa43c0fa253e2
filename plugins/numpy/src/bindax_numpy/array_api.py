"""Facts about the namespace, as the Python array API standard asks for them."""

from __future__ import annotations

from typing import Any, Final

from bindax_core import devices
from bindax_lax_basic.extend import DType, canonical_dtype, default_dtype

__array_api_version__: Final = "2025.12"
SUPPORTED_API_VERSIONS: Final = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
"""The versions of the standard that are followed."""

KINDS: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]


class ArrayNamespaceInfo:
    """Capabilities, devices and dtypes of the namespace.

    >>> jnp.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int32')
    """

    def capabilities(self) -> dict[str, Any]:
        """Boolean indices and sizes that depend on values are possible, but not while tracing."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device that is used where none is named."""
        return devices()[0]

    def devices(self) -> list[Any]:
        """The devices there are."""
        return devices()

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The dtypes of arrays that are made without naming one."""
        families = {"real floating": "float", "complex floating": "complex"}
        families |= {"integral": "int", "indexing": "int"}
        return {kind: default_dtype(family) for kind, family in families.items()}

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """The dtypes of the standard by name.

        Args:
            device: the same for all.
            kind: a kind as in ``isdtype``, or several; None for all.

        Raises:
            ValueError: for any other kind.
        """
        kinds = ("bool", "numeric") if kind is None else kind
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        for one in kinds:
            if one not in KINDS:
                raise ValueError(f"dtypes: kind must be one of {sorted(KINDS)}, but it is {one!r}.")
        return {name: canonical_dtype(name) for one in kinds for name in KINDS[one]}


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """Return the capabilities of the namespace, for libraries that adapt to it.

    >>> sorted(jnp.__array_namespace_info__().dtypes(kind="bool"))
    ['bool']
    """
    return ArrayNamespaceInfo()
