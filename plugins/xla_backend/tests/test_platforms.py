"""PJRT plugins: found where those for JAX are, never imported, each isolated from the others."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys

import numpy as np
import pytest

from bindax_core import config
from bindax_core.errors import BackendError
from bindax_core.extend import register_backend, unregister_backend
from bindax_transforms import grad, jit, make_jaxpr, vmap
from bindax_xla_backend import _jaxlib
from bindax_xla_backend.execution.backend import XlaBackend
from bindax_xla_backend.platforms import plugin_client
from bindax_xla_backend.platforms.pjrt_plugins import discover
from bindax_xla_backend.platforms.plugin_backends import plugin_backends

IMPORTED = "raise SystemExit('a plugin was imported')\n"


def install(folder, module, content, distribution=None):
    """Install a plugin: a module, its library, and an entry point where there is a distribution."""
    package = folder.joinpath(*module.split("."))
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(IMPORTED, encoding="utf-8")
    (package / "helper.so").write_bytes(b"no entry")
    if content is not None:
        (package / "plugin.so").write_bytes(content)
    if distribution is not None:
        metadata = folder / f"{distribution}-1.2.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            f"Name: {distribution}\nVersion: 1.2\n", encoding="utf-8"
        )
        (metadata / "entry_points.txt").write_text(
            f"[jax_plugins]\nx = {module}\n", encoding="utf-8"
        )
        files = [path.relative_to(folder) for path in package.iterdir()]
        (metadata / "RECORD").write_text("".join(f"{path},,\n" for path in files), encoding="utf-8")
    return package / "plugin.so"


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.delenv("PJRT_NAMES_AND_LIBRARY_PATHS", raising=False)
    return tmp_path


def test_discovery(plugins, monkeypatch):
    assert not discover()
    cuda = install(plugins, "jax_plugins.xla_cuda12", b"...GetPjrtApi...", "jax-cuda12-pjrt")
    board = install(plugins, "board_support.pjrt_board", b"GetPjrtApi", "board-support")
    install(plugins, "jax_plugins.hollow", None)
    monkeypatch.setenv("PJRT_NAMES_AND_LIBRARY_PATHS", "mine:/opt/mine.so, other:/opt/o.so")
    found = discover()
    assert {name: plugin.library and str(plugin.library) for name, plugin in found.items()} == {
        "cuda": str(cuda),
        "pjrt_board": str(board),
        "hollow": None,
        "mine": "/opt/mine.so",
        "other": "/opt/o.so",
    }
    assert found["pjrt_board"].origin == "board-support 1.2"
    assert found["mine"].origin == "the variable PJRT_NAMES_AND_LIBRARY_PATHS"


@pytest.fixture
def fake(plugins, monkeypatch):
    """A plugin whose devices are those of the CPU."""
    install(plugins, "jax_plugins.fake", b"GetPjrtApi")
    real = plugin_client.make_plugin_client

    def make(platform, library):
        return XlaBackend().make_client() if platform == "fake" else real(platform, library)

    monkeypatch.setattr(plugin_client, "make_plugin_client", make)


def run(backend):
    program = make_jaxpr(lambda x: x * 2.0)(np.ones(3))
    (result,) = backend.compile(program, name="f", donated=(False,))(np.ones(3))
    return result


def test_a_plugin_that_works_comes_before_the_cpu(fake, caplog):
    cpu, backend = plugin_backends(XlaBackend())
    assert (backend.name, backend.platform) == ("fake", "fake")
    assert backend.priority > cpu.priority
    result = run(backend)
    assert result.tolist() == [2.0, 2.0, 2.0]
    assert not caplog.records


def test_operations_on_its_arrays_are_compiled_for_it(fake):
    _, backend = plugin_backends(XlaBackend())
    register_backend(backend)
    try:
        with config.override(backend="fake"):
            y = jit(lambda x: x * 2.0)(np.ones(3, np.float32)) + 1.0
            assert y.devices() <= set(backend.devices())
            copy = y.copy()
            y.delete()
            assert copy.devices() <= set(backend.devices())
            y = copy.copy()
            assert vmap(grad(lambda x: x * x))(y).tolist() == [6.0, 6.0, 6.0]
            assert y.tolist() == [3.0, 3.0, 3.0]
    finally:
        unregister_backend(backend)


def test_one_that_fails_steps_aside_with_a_notice(fake, plugins, caplog):
    install(plugins, "jax_plugins.broken", b"GetPjrtApi, but no library")
    install(plugins, "jax_plugins.hollow", None)
    with caplog.at_level(logging.WARNING, "bindax"):
        backends = {backend.name: backend for backend in plugin_backends(XlaBackend())}
    assert max(backends.values(), key=lambda backend: backend.priority) is backends["fake"]
    assert run(backends["xla"]).tolist() == run(backends["fake"]).tolist()
    assert backends["broken"].priority < 0
    assert len(caplog.records) == 2
    (text,) = (r.message for r in caplog.records if "'broken'" in r.message)
    assert "The CPU is used." in text
    for _ in range(2):
        with pytest.raises(BackendError, match=r"'broken', which .* brings, cannot be used: JaxRu"):
            run(backends["broken"])
    with pytest.raises(BackendError, match=r"no file of .*hollow has the function GetPjrtApi"):
        run(backends["hollow"])


@pytest.mark.parametrize(
    ("platforms", "first"), [("cpu", "xla"), ("fake,cpu", "fake"), ("cpu, fake", "xla")]
)
def test_platforms_choose_and_order(fake, platforms, first):
    with config.override(platforms=platforms):
        backends = plugin_backends(XlaBackend())
    assert max(backends, key=lambda backend: backend.priority).name == first
    assert len(backends) == len(platforms.split(","))


def test_a_platform_that_is_wanted_and_missing_is_an_error(fake):
    with config.override(platforms="tpu,cpu"):
        backends = plugin_backends(XlaBackend())
    best = max(backends, key=lambda backend: backend.priority)
    with pytest.raises(BackendError, match="no PJRT plugin for it is installed; there are 'fake'"):
        best.devices()
    with pytest.raises(ValueError, match=r"config.platforms must be names .* but got \['cpu'\]"):
        config.platforms = ["cpu"]


@pytest.mark.parametrize(
    ("variables", "options"),
    [
        ({}, {}),
        ({"MEM_FRACTION": ".5"}, {"memory_fraction": 0.5}),
        ({"PREALLOCATE": "false"}, {"preallocate": False}),
        ({"ALLOCATOR": "platform"}, {"allocator": "platform"}),
    ],
)
def test_memory_settings_reach_cuda(monkeypatch, variables, options):
    for name in ("MEM_FRACTION", "PREALLOCATE", "ALLOCATOR"):
        monkeypatch.delenv(f"XLA_PYTHON_CLIENT_{name}", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(f"XLA_PYTHON_CLIENT_{name}", value)
    given = {}
    client = _jaxlib.xla_client
    monkeypatch.setattr(client, "pjrt_plugin_loaded", lambda name: True)
    monkeypatch.setattr(client, "pjrt_plugin_initialized", lambda name: True)
    monkeypatch.setattr(client, "make_c_api_client", lambda name, o, _: given.update({name: o}))
    plugin_client.make_plugin_client("cuda", "plugin.so")
    plugin_client.make_plugin_client("other", "plugin.so")
    chosen = given["bindax_cuda"]
    assert chosen["platform_name"] == "cuda"
    assert {**chosen, **options} == chosen
    assert ("memory_fraction" in chosen) == ("MEM_FRACTION" in variables)
    assert given["bindax_other"] == {}


SCRIPT = """
import json, sys
import numpy as np
import bindax_core
from bindax_transforms import jit
y = jit(lambda x: x + 1.0)(np.ones(2))
assert y.tolist() == [2.0, 2.0], y
assert bindax_core.default_backend() == "xla"
assert "jax_plugins" not in sys.modules and "jax" not in sys.modules
try:
    jit(lambda x: x + 1.0, backend="broken")(np.ones(2))
except bindax_core.errors.BackendError as error:
    print(json.dumps(str(error)))
"""


def test_a_process_with_a_broken_plugin_computes(tmp_path):
    install(tmp_path, "jax_plugins.broken", b"GetPjrtApi, but no library", "broken-plugin")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for name in ("BINDAX_BACKEND", "BINDAX_PLATFORMS", "PJRT_NAMES_AND_LIBRARY_PATHS"):
        environment.pop(name, None)
    command = [sys.executable, "-W", "error", "-c", SCRIPT]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "the platform 'broken'" in json.loads(done.stdout)
    assert "INTERNAL: Failed to open" in json.loads(done.stdout)
    assert "The CPU is used." in done.stderr
