"""Clusters that say everything in environment variables: Slurm and Open MPI."""

from __future__ import annotations

import os
import re

_FIRST_PORT = 65536 - 4096
"""The first of the 4,096 highest ports, one of which the number of a job chooses."""


class Lacking(ValueError):
    """The error for a cluster that was found, and does not say something."""


def variable(cluster: str, name: str, advice: str) -> str:
    """Return an environment variable of a cluster.

    Raises:
        Lacking: when it is not set.
    """
    found = os.environ.get(name, "")
    if not found:
        raise Lacking(f"{cluster} was found, but {name} is not set. {advice}")
    return found


def number(cluster: str, name: str, advice: str) -> int:
    """Return an environment variable of a cluster that is a whole number.

    Raises:
        Lacking: when it is not set, or is no number.
    """
    found = variable(cluster, name, advice)
    if not re.fullmatch(r"\d+", found):
        raise Lacking(f"{cluster} was found, but {name}={found!r} is no whole number. {advice}")
    return int(found)


class Slurm:
    """A step of a job of Slurm, which ``srun`` starts."""

    name = "slurm"
    shown = "Slurm"
    sign = "SLURM_JOB_ID"
    _advice = "Start the processes with srun."

    def is_present(self) -> bool:
        """Tell whether this process is one of such a step."""
        step = ("SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_LOCALID")
        return self.is_near() and all(name in os.environ for name in step)

    def is_near(self) -> bool:
        """Tell whether this process is in a job at all."""
        return self.sign in os.environ

    def address(self, port: int | None) -> str:
        """Return where process 0 listens: at the first node, at a port that the job chooses."""
        nodes = variable(self.shown, "SLURM_STEP_NODELIST", self._advice)
        job = number(self.shown, self.sign, self._advice)
        return f"{first_host(nodes)}:{port or job % 4096 + _FIRST_PORT}"

    def count(self) -> int:
        """Return the number of processes."""
        return number(self.shown, "SLURM_NTASKS", self._advice)

    def index(self) -> int:
        """Return the number of this process."""
        return number(self.shown, "SLURM_PROCID", self._advice)


def first_host(nodes: str) -> str:
    """Return the first host of a list of Slurm's.

    >>> first_host("node[003-005,9],other1"), first_host("a1,b2"), first_host("r[2-4]n[7,9]-ib")
    ('node003', 'a1', 'r2n7-ib')
    """
    first = re.match(r"(?:[^,\[]|\[[^\]]*\])*", nodes)
    return re.sub(r"\[([^\],-]*)[^\]]*\]", r"\1", first[0] if first else "")


class OpenMPI:
    """A process that ``mpirun`` of Open MPI started."""

    name = "ompi"
    shown = "Open MPI"
    sign = "OMPI_COMM_WORLD_RANK"
    _uri = "OMPI_MCA_orte_hnp_uri"
    _advice = "Start the processes with mpirun."

    def is_present(self) -> bool:
        """Tell whether ``mpirun`` started this process."""
        return self.sign in os.environ

    is_near = is_present

    def address(self, port: int | None) -> str:
        """Return where process 0 listens: where ``mpirun`` runs, at a port that the job chooses."""
        uri = variable(
            self.shown,
            self._uri,
            "Open MPI 5 does not set it: give coordinator_address, or take the address from "
            "mpi4py with cluster_detection_method='mpi4py'.",
        )
        # Such as 1531576320.0;tcp://10.96.0.1,10.148.0.1:34911, or tcp6://[fe80::1,2620::2]:43370.
        found = re.match(r"(\d+)\.\d+;.*?(?:tcp://([^,:]+)|tcp6://\[([^,\]]+))", uri)
        if found is None:
            raise Lacking(
                f"{self.shown} was found, but {self._uri}={uri!r} has no number of a job and no "
                f"address. Give coordinator_address."
            )
        job = int(found[1]) // 4096  # the numbers of jobs are multiples of it
        return f"{found[2] or found[3]}:{port or job % 4096 + _FIRST_PORT}"

    def count(self) -> int:
        """Return the number of processes."""
        return number(self.shown, "OMPI_COMM_WORLD_SIZE", self._advice)

    def index(self) -> int:
        """Return the number of this process."""
        return number(self.shown, self.sign, self._advice)
