"""Packages written for JAX run on bindax by the alias, with the numbers that JAX has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
PROGRAMS = HERE / "jax_packages"
ANSWERS = json.loads((PROGRAMS / "answers.json").read_text(encoding="utf-8"))
PACKAGES = {
    "optax_fit": "optax",
    "chex_asserts": "chex",
    "haiku_mlp": "haiku",
    "jraph_network": "jraph",
    "mctx_search": "mctx",
    "numpyro_nuts": "numpyro",
    "equinox_train": "equinox",
    "lineax_solve": "lineax",
    "optimistix_root": "optimistix",
    "diffrax_solve": "diffrax",
    "blackjax_nuts": "blackjax",
    "jaxopt_minimize": "jaxopt",
    "e3nn_spherical": "e3nn_jax",
    "flax_linen": "flax",
    "flax_nnx": "flax",
    "equinox_cases": "equinox",
    "lineax_cases": "lineax",
    "optimistix_cases": "optimistix",
    "diffrax_cases": "diffrax",
    "brax_rollout": "brax",
    "coordax_fields": "coordax",
    "distrax_flow": "distrax",
    "dm_pix_images": "dm_pix",
    "evosax_search": "evosax",
    "flashbax_buffers": "flashbax",
    "flowjax_flow": "flowjax",
    "gpjax_regression": "gpjax",
    "gymnax_rollout": "gymnax",
    "jax_cfd_flow": "jax_cfd",
    "jax_md_liquid": "jax_md",
    "jaxley_cell": "jaxley",
    "jaxlie_poses": "jaxlie",
    "jaxtyping_checks": "jaxtyping",
    "keras_fit": "keras",
    "mjx_pendulum": "mujoco",
    "netket_ising": "netket",
    "orbax_restore": "orbax",
    "ott_sinkhorn": "ott",
    "pennylane_circuit": "pennylane",
    "penzai_layers": "penzai",
    "pgx_games": "pgx",
    "quax_lora": "quax",
    "rlax_losses": "rlax",
    "s2fft_transform": "s2fft",
    "scico_total_variation": "scico",
    "surjectors_flow": "surjectors",
    "tinygp_fit": "tinygp",
    "transformers_bert": "transformers",
    "treescope_text": "treescope",
}
"""By program, the package that it is about; a file of cases has an answer for each of them."""
DISTRIBUTIONS = {
    "dm_pix": "dm-pix",
    "e3nn_jax": "e3nn-jax",
    "haiku": "dm-haiku",
    "jax_cfd": "jax-cfd",
    "jax_md": "jax-md",
    "mujoco": "mujoco-mjx",
    "orbax": "orbax-checkpoint",
    "ott": "ott-jax",
}
"""By package, its distribution where that has another name."""
QUICK = ("chex_asserts", "jraph_network")
"""Those of ordinary runs, beside the two that run without a compiler."""
NIGHTLY = bool(os.environ.get("BINDAX_NIGHTLY"))
pytestmark = pytest.mark.timeout(1900 if NIGHTLY else 300)


PROGRAMS_OF_RUN = PACKAGES if NIGHTLY else QUICK
NAMES = [name for name in sorted(ANSWERS) if name.partition(".")[0] in PROGRAMS_OF_RUN]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each program returns, from one process with the alias."""
    out = tmp_path_factory.mktemp("packages") / "found.json"
    program = [HERE / "jax_programs/run.py", PROGRAMS, out]
    program += [name for name in PROGRAMS_OF_RUN if find_spec(PACKAGES[name])]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "BINDAX_"))}
    command = [sys.executable, "-W", "ignore", "-m", "bindax.jax", *program]
    limit = 1800 if NIGHTLY else 280
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(out.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_package_has_the_numbers_of_jax(request, name):
    program = name.partition(".")[0]
    if find_spec(PACKAGES[program]) is None:
        pytest.skip(f"{PACKAGES[program]} is not installed")
    check(name, request.getfixturevalue("found")[name])


def check(name, mine):
    """Compare what a program returns with the answer of JAX."""
    assert "values" in mine, mine
    for ours, reference in zip(mine["values"], ANSWERS[name]["values"], strict=True):
        if isinstance(reference, str):
            assert ours == reference
        else:
            np.testing.assert_allclose(ours, reference, rtol=1e-3, atol=1e-4)


WITHOUT_JAXLIB = """
import runpy, sys
sys.modules["jaxlib"] = None
out, run, folder = sys.argv[1:]
sys.argv = [run, folder, out, "optax_fit", "haiku_mlp"]
runpy.run_path(run, run_name="__main__")
"""


@pytest.mark.skipif(not (find_spec("optax") and find_spec("haiku")), reason="not installed")
def test_numpy_alone_runs_optax_and_haiku(tmp_path):
    out = tmp_path / "found.json"
    options = ["-W", "ignore", "-m", "bindax.jax", "-c", WITHOUT_JAXLIB]
    command = [sys.executable, *options, out, HERE / "jax_programs/run.py", PROGRAMS]
    environment = {**os.environ, "BINDAX_BACKEND": "numpy"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stderr[-2000:]
    for name, mine in json.loads(out.read_text(encoding="utf-8")).items():
        check(name, mine)


def test_every_program_has_an_answer():
    answered = {name.partition(".")[0] for name in ANSWERS}
    assert set(PACKAGES) == answered == {path.stem for path in PROGRAMS.glob("*.py")}
