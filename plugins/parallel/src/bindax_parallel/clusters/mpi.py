"""Any MPI, asked through ``mpi4py``."""

from __future__ import annotations

import socket
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bindax_parallel.clusters.environment import Lacking


class Mpi4py:
    """The processes of ``MPI.COMM_WORLD``; they are asked on request alone.

    Importing ``mpi4py`` starts MPI.
    """

    name = "mpi4py"
    shown = "MPI"
    sign = "package mpi4py"

    def is_present(self) -> bool:
        """Tell whether the package is installed."""
        return find_spec("mpi4py") is not None

    is_near = is_present

    def address(self, port: int | None) -> str:
        """Return where process 0 listens: at its host, at a port that was free."""
        world = self._world()
        own = f"{socket.gethostname()}:{port or _free_port()}" if world.Get_rank() == 0 else None
        return str(world.bcast(own, root=0))

    def count(self) -> int:
        """Return the number of processes."""
        return int(self._world().Get_size())

    def index(self) -> int:
        """Return the number of this process."""
        return int(self._world().Get_rank())

    def _world(self) -> Any:
        try:
            return import_module("mpi4py.MPI").COMM_WORLD
        except (ImportError, RuntimeError) as error:  # there is no MPI that it could load
            raise Lacking(f"mpi4py was found, but cannot be used: {error}") from error


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("", 0))
        return int(one.getsockname()[1])
