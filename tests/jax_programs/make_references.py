"""Write the answers of JAX to the programs here: ``python tests/jax_programs/make_references.py``."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, HERE / "run.py", HERE, HERE / "answers.json", *sys.argv[1:]]
    subprocess.run(command, check=True, env=environment)
