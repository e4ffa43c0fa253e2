"""Start a program several times on this machine, as processes that find each other.

    python examples/distributed/launch.py 2 examples/distributed/train.py --data 2

On several machines something else does this: Slurm, Kubernetes, a shell on each.
"""

import os
import socket
import subprocess
import sys


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def launch(count: int, command: list[str], **options) -> list[subprocess.Popen]:
    """Start the processes; each is told its number by its environment."""
    common = {"COORDINATOR": f"127.0.0.1:{free_port()}", "PROCESSES": str(count)}
    return [
        subprocess.Popen(
            [sys.executable, *command],
            env={**os.environ, **common, "PROCESS": str(number)},
            **options,
        )
        for number in range(count)
    ]


if __name__ == "__main__":
    processes = launch(int(sys.argv[1]), sys.argv[2:])
    sys.exit(max(process.wait() for process in processes))
