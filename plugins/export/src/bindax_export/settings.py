"""The settings of exports: the calling convention that programs are written with."""

from __future__ import annotations

from bindax_core.extend import Setting, positive_integer
from bindax_export._format import maximum_supported_calling_convention_version

export_calling_convention_version: Setting = Setting(
    "export_calling_convention_version",
    maximum_supported_calling_convention_version,
    """the version of the calling convention that exported programs follow: 10, or 9 for older
    readers, which take programs for one device alone""",
    check=positive_integer,
)
