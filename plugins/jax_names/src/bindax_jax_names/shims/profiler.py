"""``jax.profiler``: sessions whose traces are read before they are written for good."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from bindax import profiler

__all__ = ["ProfileSession", "export_profile_data"]

Folder = str | os.PathLike[str]


class ProfileSession:
    """The record of what runs between ``start`` and ``stop``, or inside a ``with`` block.

    Args:
        log_dir: the directory that is written; without one the record is kept until it is exported.
        create_perfetto_link: False: no server is started.
        create_perfetto_trace: whether ``perfetto_trace.json.gz`` is written too.
        profiler_options: what is recorded.
    """

    def __init__(
        self,
        log_dir: Folder | None = None,
        create_perfetto_link: bool = False,
        create_perfetto_trace: bool = False,
        profiler_options: Any = None,
    ) -> None:
        self._kept = tempfile.TemporaryDirectory() if log_dir is None else None
        self._log_dir = Path(self._kept.name if self._kept else log_dir or "")
        self._options = create_perfetto_link, create_perfetto_trace, profiler_options
        self._written: Path | None = None
        self._running = False

    @property
    def is_running(self) -> bool:
        """Tell whether it records."""
        return self._running

    def start(self) -> None:
        """Start to record."""
        profiler.start_trace(self._log_dir, *self._options)
        self._running = True

    def stop(self) -> None:
        """End the record."""
        self._running = False
        self._written = profiler.stop_trace()

    def __enter__(self) -> ProfileSession:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    @property
    def folder(self) -> Path:
        """The directory of the record.

        Raises:
            RuntimeError: when nothing has been recorded.
        """
        if self._written is None:
            raise RuntimeError("ProfileSession: nothing has been recorded; call start, then stop.")
        return self._written

    @property
    def profile_data(self) -> Any:
        """The record, as ``ProfileData``."""
        (file,) = self.folder.glob("*.xplane.pb")
        return profiler.ProfileData.from_file(str(file))

    def export_profile_data(self, log_dir: Folder, **options: Any) -> None:
        """Write the record below a directory."""
        export_profile_data(self, log_dir, **options)


def export_profile_data(
    profile_data: ProfileSession,
    log_dir: Folder,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    session_id: str | None = None,
) -> None:
    """Write the record of a session below a directory, as ``start_trace`` does.

    Raises:
        TypeError: when it is no session; what is read from a file is in that file.
    """
    if not isinstance(profile_data, ProfileSession):
        raise TypeError(
            f"export_profile_data takes a ProfileSession, but got {type(profile_data).__name__}; "
            f"copy the file that it was read from."
        )
    written = profile_data.folder
    target = Path(log_dir) / "plugins" / "profile" / (session_id or written.name)
    shutil.copytree(written, target, dirs_exist_ok=True)
