"""Write the answers of JAX to the programs of the folders that are named, by default this one."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    for folder in map(Path, sys.argv[1:] or [HERE]):
        command = [sys.executable, HERE / "run.py", folder, folder / "answers.json"]
        subprocess.run(command, check=True, env=environment)
