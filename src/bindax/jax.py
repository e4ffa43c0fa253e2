"""The command ``python -m bindax.jax PROGRAM``: run a program written for JAX on bindax."""

import sys

from bindax.jax_names import run_program as run_program

__all__ = ["run_program"]

if __name__ == "__main__":
    run_program(sys.argv[1:])
