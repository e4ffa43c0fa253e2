"""The place of a process in its computation, of which a cluster says what the caller does not."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Protocol

from bindax_parallel.clusters.environment import Lacking, OpenMPI, Slurm
from bindax_parallel.clusters.kubernetes import Kubernetes
from bindax_parallel.clusters.mpi import Mpi4py

NAMES = ("ompi", "slurm", "k8s", "mpi4py", "deactivate")
"""The methods that a caller can choose."""


class Cluster(Protocol):
    """A cluster, which knows where process 0 listens, how many there are, and which this is."""

    name: str
    shown: str
    sign: str

    def is_present(self) -> bool:
        """Tell whether the cluster started this process."""

    def is_near(self) -> bool:
        """Tell whether there are signs of the cluster."""

    def address(self, port: int | None) -> str:
        """Return ``"host:port"`` where process 0 listens, at a port if one is given."""

    def count(self) -> int:
        """Return the number of processes."""

    def index(self) -> int:
        """Return the number of this process."""


class Place(NamedTuple):
    """The place of a process in its computation; None for what is not known of it.

    Attributes:
        coordinator_address: ``"host:port"`` where process 0 listens.
        num_processes: the number of processes.
        process_id: the number of this one.
    """

    coordinator_address: Any
    num_processes: Any
    process_id: Any

    @property
    def lacking(self) -> list[str]:
        """The names of what is not known."""
        return [name for name, x in zip(self._fields, self, strict=True) if x is None]


def completed(given: Place, method: str | None) -> Place:
    """Return what a caller gave, completed by the environment and by the cluster.

    Args:
        given: what the caller says.
        method: the name of the cluster to ask, ``"deactivate"`` for none; None for the first that
            is found, of those that need not be asked for.

    Raises:
        ValueError: when something is said by nobody; the message says what was found.
    """
    if method is not None and method not in NAMES:
        raise ValueError(
            f"initialize: cluster_detection_method must be one of {', '.join(map(repr, NAMES))}, "
            f"or None for the first that is found, but it is {method!r}."
        )
    address = given.coordinator_address or environment("COORDINATOR_ADDRESS")
    given = given._replace(coordinator_address=address)
    if not given.lacking or method == "deactivate":
        return given
    clusters: list[Cluster] = [OpenMPI(), Slurm(), Kubernetes()]
    if method is not None:
        clusters = [one for one in (*clusters, Mpi4py()) if one.name == method]
    found = next((one for one in clusters if one.is_present()), None)
    if found is None:
        raise ValueError(_nothing(given, clusters))
    try:
        return _asked(given, found)
    except Lacking as error:
        raise ValueError(
            f"initialize: {_listed(given.lacking)} must be given, or said by a cluster. {error}"
        ) from error


def environment(name: str) -> str | None:
    """Return an environment variable of bindax, or of JAX, whose programs set it for both."""
    return os.environ.get(f"BINDAX_{name}") or os.environ.get(f"JAX_{name}")


def _asked(given: Place, cluster: Cluster) -> Place:
    """The place with what was not given, as a cluster says it."""
    address, count, index = given
    if address is None:
        port = environment("COORDINATOR_PORT")
        if port is not None and not port.isdigit():
            raise Lacking(f"COORDINATOR_PORT={port!r} is no number of a port.")
        address = cluster.address(int(port) if port else None)
    count = cluster.count() if count is None else count
    return Place(address, count, cluster.index() if index is None else index)


def _nothing(given: Place, clusters: list[Cluster]) -> str:
    """The message where no cluster was found."""
    near = [one for one in clusters if one.is_near()]
    text = f"initialize: {_listed(given.lacking)} must be given, because no cluster was found"
    if near:
        near_by = near[0].shown
        return f"{text}: there are signs of {near_by}, but srun did not start this process."
    signs = [f"{one.sign} ({one.shown})" for one in clusters]
    return f"{text}: there is no {_listed(signs, 'and no')}."


def _listed(names: list[str], word: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
