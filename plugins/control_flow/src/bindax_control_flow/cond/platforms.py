"""The platforms that ``platform_dependent`` chooses between."""

from __future__ import annotations

from collections.abc import Sequence

DEFAULT = "default"
"""In place of the name of a platform: all platforms that are not named."""

_PLATFORMS = {"gpu": ("cuda", "rocm"), "cpu": ("host",)}
"""Names that stand for others too; programs that are interpreted run on the ``host``."""


def branch_for(platforms: Sequence[str], platform: str) -> int:
    """Find the branch, each for one platform, that belongs to a platform.

    Raises:
        ValueError: when none does, and none is the default.
    """
    for i, name in enumerate(platforms):
        if platform == name or platform in _PLATFORMS.get(name, ()):
            return i
    if DEFAULT in platforms:
        return list(platforms).index(DEFAULT)
    raise ValueError(
        f"platform_dependent has no function for the platform {platform}, only for "
        f"{', '.join(platforms)}; add {platform}=..., or default=... for all others."
    )
