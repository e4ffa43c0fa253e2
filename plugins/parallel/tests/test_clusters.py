"""The place of a process among others, from what clusters say in its environment."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

from bindax_parallel import distributed
from bindax_parallel.clusters import kubernetes
from bindax_parallel.clusters.detection import Place, completed
from bindax_parallel.clusters.environment import first_host

NOTHING = Place(None, None, None)
SLURM = {
    "SLURM_JOB_ID": "4100",
    "SLURM_STEP_NODELIST": "node[003-005,9],other1",
    "SLURM_NTASKS": "8",
    "SLURM_PROCID": "5",
    "SLURM_LOCALID": "1",
}
OPEN_MPI = {
    "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_RANK": "3",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
}
PREFIXES = ("SLURM_", "OMPI_", "KUBERNETES_", "BINDAX_COORDINATOR", "JAX_COORDINATOR")


@pytest.fixture(autouse=True)
def _no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith(PREFIXES) or name == "JOB_COMPLETION_INDEX":
            monkeypatch.delenv(name)


def inside(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    inside(monkeypatch, SLURM)
    assert completed(NOTHING, None) == ("node003:61444", 8, 5)
    assert completed(NOTHING, "slurm") == ("node003:61444", 8, 5)
    assert completed(Place("here:1", None, 2), None) == ("here:1", 8, 2)
    monkeypatch.setenv("JAX_COORDINATOR_PORT", "1234")
    assert completed(NOTHING, None).coordinator_address == "node003:1234"
    monkeypatch.setenv("BINDAX_COORDINATOR_ADDRESS", "there:5")
    assert completed(NOTHING, None).coordinator_address == "there:5"


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("node001", "node001"),
        ("node001,host2", "node001"),
        ("node[001-015],host2", "node001"),
        ("node[001,007-015]", "node001"),
        ("rack[2-4]-node[7,9].example", "rack2-node7.example"),
        ("login-1", "login-1"),
    ],
)
def test_first_host_of_slurm(nodes: str, first: str) -> None:
    assert first_host(nodes) == first


def test_open_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    inside(monkeypatch, OPEN_MPI)
    job = 1531576320 // 4096
    assert completed(NOTHING, None) == (f"10.96.0.1:{job % 4096 + 61440}", 4, 3)
    inside(monkeypatch, SLURM)  # mpirun inside of a job of Slurm
    assert completed(NOTHING, None).process_id == 3
    assert completed(NOTHING, "slurm").process_id == 5
    uri = "1314521088.0;tcp6://[fe80::b9b:ac5d,2620:10d::2]:43370"
    monkeypatch.setenv("OMPI_MCA_orte_hnp_uri", uri)
    monkeypatch.setenv("BINDAX_COORDINATOR_PORT", "77")
    assert completed(NOTHING, None).coordinator_address == "fe80::b9b:ac5d:77"


class World:
    """The communicator of a process of two."""

    def __init__(self, rank: int) -> None:
        self.rank = rank

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return 2

    def bcast(self, value: Any, root: int) -> Any:
        return "first:4000" if value is None else value


@pytest.mark.parametrize("rank", [0, 1])
def test_mpi4py(monkeypatch: pytest.MonkeyPatch, rank: int) -> None:
    package, module = ModuleType("mpi4py"), SimpleNamespace(COMM_WORLD=World(rank))
    package.__spec__ = ModuleSpec("mpi4py", None)
    monkeypatch.setitem(sys.modules, "mpi4py", package)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", module)
    with pytest.raises(ValueError, match="no cluster was found"):
        completed(NOTHING, None)  # it must be asked for
    monkeypatch.setenv("JAX_COORDINATOR_PORT", "4001")
    found = completed(NOTHING, "mpi4py")
    assert found[1:] == (2, rank)
    assert found.coordinator_address == "first:4000" or found.coordinator_address.endswith(":4001")


JOB: dict[str, Any] = {"metadata": {"name": "train", "labels": {}}, "spec": {"parallelism": 16}}
POD: dict[str, Any] = {
    "metadata": {"name": "train-3-x7k2p", "labels": {"job-name": "train"}},
    "spec": {"subdomain": "pods"},
}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The answers of an API server, to be changed."""
    answers: dict[str, Any] = {"pods": {"items": [POD]}, "jobs": JOB}
    inside(monkeypatch, {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "3"})
    monkeypatch.setenv("HOSTNAME", "localhost")
    monkeypatch.setattr(kubernetes, "_namespace", lambda: "research")

    def ask(path: str) -> Any:
        assert "/namespaces/research/" in path
        found: object = answers["jobs" if "/jobs/train" in path else "pods"]
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(kubernetes, "ask", ask)
    return answers


def test_kubernetes(cluster: dict[str, Any]) -> None:
    assert completed(NOTHING, None) == ("train-0.pods:55527", 16, 3)
    labels = {"jobset.sigs.k8s.io/jobset-name": "runs"}
    cluster["jobs"] = {**JOB, "metadata": {"name": "train", "labels": labels}}
    assert completed(NOTHING, "k8s").coordinator_address == "train-0.runs:55527"


def test_kubernetes_is_not_asked_for_what_is_given(cluster: dict[str, Any]) -> None:
    cluster["pods"] = URLError("unreachable")
    assert completed(Place("first:1", 4, None), None) == ("first:1", 4, 3)


@pytest.mark.parametrize(
    ("part", "answer", "text"),
    [
        ("pods", URLError("timed out"), "its API server cannot be asked: .*timed out"),
        (
            "pods",
            HTTPError("https://10.0.0.1", 403, "Forbidden", None, None),  # type: ignore[arg-type]
            "answers 403 Forbidden to GET api/v1/namespaces/research/pods.*bind a Role to it",
        ),
        ("pods", {"items": []}, "0 pods have the address 127.0.0.1 of this one"),
        (
            "pods",
            {"items": [{"metadata": {"name": "web"}, "spec": {}}]},
            "the pod web is of no job",
        ),
        (
            "pods",
            {"items": [{**POD, "spec": {}}]},
            "the job has no subdomain.*Make a headless service",
        ),
    ],
)
def test_what_kubernetes_does_not_say(
    cluster: dict[str, Any], part: str, answer: Any, text: str
) -> None:
    cluster[part] = answer
    with pytest.raises(ValueError, match=f"(?s)Kubernetes was found, but .*{text}"):
        completed(NOTHING, None)


def test_a_pod_without_an_account(monkeypatch: pytest.MonkeyPatch) -> None:
    inside(monkeypatch, {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "3"})
    monkeypatch.setenv("HOSTNAME", "localhost")
    with pytest.raises(ValueError, match="the pod has no service account"):
        completed(NOTHING, None)


NO_CLUSTER = (
    "coordinator_address, num_processes and process_id must be given, because no cluster was "
    "found: there is no OMPI_COMM_WORLD_RANK (Open MPI), SLURM_JOB_ID (Slurm) and no "
    "KUBERNETES_SERVICE_HOST (Kubernetes)."
)
NO_STEP = (
    "num_processes and process_id must be given, because no cluster was found: there are signs "
    "of Slurm, but srun did not start this process."
)
NO_ADDRESS = (
    "Open MPI was found, but OMPI_MCA_orte_hnp_uri is not set. Open MPI 5 does not set it: give "
    "coordinator_address, or take the address from mpi4py with cluster_detection_method='mpi4py'."
)
NO_INDEX = (
    "process_id must be given, or said by a cluster. Kubernetes was found, but "
    "JOB_COMPLETION_INDEX is not set. The job must have completionMode: Indexed."
)
NO_METHOD = (
    "cluster_detection_method must be one of 'ompi', 'slurm', 'k8s', 'mpi4py', 'deactivate', or "
    "None for the first that is found, but it is 'lsf'."
)
ADDRESS = {"coordinator_address": "a:1"}


@pytest.mark.parametrize(
    ("variables", "options", "text"),
    [
        ({}, {}, NO_CLUSTER),
        ({"SLURM_JOB_ID": "7"}, ADDRESS, NO_STEP),
        (
            {**SLURM, "SLURM_PROCID": "five"},
            {},
            "Slurm was found, but SLURM_PROCID='five' is no whole number. Start the processes with",
        ),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}, {}, NO_ADDRESS),
        (
            {"OMPI_COMM_WORLD_RANK": "0"},
            ADDRESS,
            "Open MPI was found, but OMPI_COMM_WORLD_SIZE is not set. Start the processes with",
        ),
        (
            {**OPEN_MPI, "OMPI_MCA_orte_hnp_uri": "nonsense"},
            {},
            "OMPI_MCA_orte_hnp_uri='nonsense' has no number of a job and no address.",
        ),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, {**ADDRESS, "num_processes": 2}, NO_INDEX),
        (
            {**SLURM, "JAX_COORDINATOR_PORT": "abc"},
            {},
            "COORDINATOR_PORT='abc' is no number of a port.",
        ),
        (
            SLURM,
            {"cluster_detection_method": "ompi"},
            "no cluster was found: there is no OMPI_COMM_WORLD_RANK (Open MPI).",
        ),
        ({}, {"cluster_detection_method": "lsf"}, NO_METHOD),
        (
            SLURM,
            {"cluster_detection_method": "deactivate"},
            "coordinator_address must be 'host:port', where process 0 listens, but it is None.",
        ),
        (
            {**SLURM, "SLURM_PROCID": "8"},
            {},
            "process_id=8 is not one of 0 to 7, the numbers of num_processes=8.",
        ),
    ],
)
def test_what_initialize_does_not_know(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], options: Any, text: str
) -> None:
    inside(monkeypatch, variables)
    with pytest.raises(ValueError) as caught:
        distributed.initialize(**options)
    assert str(caught.value).startswith("initialize: ")
    assert text in str(caught.value)
