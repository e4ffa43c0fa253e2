"""A job of Kubernetes, alone or in a JobSet, whose description its API server gives."""

from __future__ import annotations

import json
import os
import socket
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode

from bindax_parallel.clusters.environment import Lacking, number

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_PORT = 55527
_JOB = ("job-name", "batch.kubernetes.io/job-name")
_JOBSET = "jobset.sigs.k8s.io/jobset-name"
_SECONDS = 30  # to wait for the API server
_SUBDOMAIN = (
    "the job has no subdomain, by which its pods find each other. Make a headless service "
    "(clusterIP: None) that selects the job, and name it in the job: spec.template.spec.subdomain"
)


class Kubernetes:
    """An indexed job."""

    name = "k8s"
    shown = "Kubernetes"
    sign = "KUBERNETES_SERVICE_HOST"

    def is_present(self) -> bool:
        """Tell whether this process runs in a pod."""
        return self.sign in os.environ

    is_near = is_present

    def address(self, port: int | None) -> str:
        """Return where process 0 listens: in the first pod of the job."""
        job = self._job
        subdomain = (job["metadata"].get("labels") or {}).get(_JOBSET)
        subdomain = subdomain or self._pod["spec"].get("subdomain")
        if not subdomain:
            raise Lacking(f"{self.shown} was found, but {_SUBDOMAIN}.")
        return f"{job['metadata']['name']}-0.{subdomain}:{port or _PORT}"

    def count(self) -> int:
        """Return the number of pods that run at the same time."""
        return int(self._job["spec"].get("parallelism") or 1)

    def index(self) -> int:
        """Return the index of this pod in the job."""
        advice = "The job must have completionMode: Indexed."
        return number(self.shown, "JOB_COMPLETION_INDEX", advice)

    @cached_property
    def _pod(self) -> Any:
        address = socket.gethostbyname(os.environ.get("HOSTNAME") or socket.gethostname())
        query = urlencode({"fieldSelector": f"status.podIP={address}"})
        pods = self._ask(f"api/v1/namespaces/{_namespace()}/pods?{query}")["items"]
        if len(pods) != 1:
            raise Lacking(
                f"{self.shown} was found, but {len(pods)} pods have the address {address} of this "
                f"one. Give coordinator_address, num_processes and process_id."
            )
        return pods[0]

    @cached_property
    def _job(self) -> Any:
        labels = self._pod["metadata"].get("labels") or {}
        job = next((labels[key] for key in _JOB if key in labels), None)
        if job is None:
            raise Lacking(
                f"{self.shown} was found, but the pod {self._pod['metadata']['name']} is of no "
                f"job. Processes are found in jobs and job sets alone; for others give "
                f"coordinator_address, num_processes and process_id."
            )
        return self._ask(f"apis/batch/v1/namespaces/{_namespace()}/jobs/{job}")

    def _ask(self, path: str) -> Any:
        """The answer of the API server to a question."""
        try:
            return ask(path)
        except HTTPError as error:
            text = f"the API server answers {error.code} {error.reason} to GET {path}"
            if error.code == 403:
                text += (
                    ". The service account of the job must be allowed to get and list pods and "
                    "jobs: bind a Role to it"
                )
            raise Lacking(f"{self.shown} was found, but {text}.") from error
        except OSError as error:
            raise Lacking(
                f"{self.shown} was found, but its API server cannot be asked: {error}. Give "
                f"coordinator_address, num_processes and process_id."
            ) from error


def _namespace() -> str:
    try:
        return (_ACCOUNT / "namespace").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise Lacking(
            f"Kubernetes was found, but the pod has no service account: {error}. Set "
            f"automountServiceAccountToken, or give coordinator_address and num_processes."
        ) from error


def ask(path: str) -> Any:
    """Return the answer of the API server of the cluster to a question, with the pod's account."""
    import ssl  # both take long to import
    from urllib.request import Request, urlopen

    host = os.environ["KUBERNETES_SERVICE_HOST"]
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    host = f"[{host}]" if ":" in host else host
    token = (_ACCOUNT / "token").read_text(encoding="ascii").strip()
    headers = {"Authorization": f"Bearer {token}"}
    request = Request(f"https://{host}:{port}/{path}", headers=headers)
    trusted = ssl.create_default_context(cafile=str(_ACCOUNT / "ca.crt"))
    with urlopen(request, timeout=_SECONDS, context=trusted) as answer:
        return json.load(answer)
