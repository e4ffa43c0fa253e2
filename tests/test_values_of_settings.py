"""The values that settings take: bad ones are refused and change nothing, empty variables unset."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import _settings, lax, random
from bindax_core import _config, _extension_points, _packages

SETTINGS = {name: bindax.config.setting(name) for name in bindax.config.names()}

HOSTILE: tuple[Any, ...] = (
    "bogus value",
    "",
    " ",
    "\0",
    "Explicit",
    b"allow",
    3.5,
    float("nan"),
    -1,
    2,
    10**30,
    1j,
    object(),
    [],
    ["allow"],
    {},
    np.ones(2),
    np.float64(1.0),
    lambda: True,
    Ellipsis,
    int,
)
TAKEN = {
    "compiled_programs": (2, 10**30),
    "compilation_cache_bytes": (2, 10**30),
    "compilation_cache_dir": ("bogus value", "Explicit"),
    "export_calling_convention_version": (2, 10**30),  # an export knows those that are supported
    "iree_driver": ("Explicit",),
    "iree_flags": ("", " "),
    "nnx_logical_axis_rules": ([],),
    "random_seed_offset": (-1, 2, 10**30),
    "platforms": ("Explicit",),  # it is known when the first program is compiled
}
"""Those of the hostile values that are legal."""

LEGAL: dict[str, tuple[Any, ...]] = {
    "enable_x64": ("explicit", True, False, 1, np.False_),
    "default_dtype_bits": (32, 64, np.int64(64)),
    "compiled_programs": (1, 7),
    "compilation_cache_dir": (None, "x", pathlib.Path("y")),
    "compilation_cache_bytes": (1, 1 << 40),
    "traceback": ("filtered", "full"),
    "backend": (None, "numpy"),
    "platforms": (None, "cpu", "cuda, cpu"),
    "derived_rules": ("notice", "error", "silent"),
    "eager": ("numpy", "compile"),
    "default_matmul_precision": (None, "highest", "HIGHEST", "F32_F32_F32"),
    "num_cpu_devices": (1,),
    "conventions": ("bindax", "jax"),
    "default_prng_impl": ("threefry2x32", "rbg", "unsafe_rbg"),
    "random_seed_offset": (0, 3, -1),
    "legacy_prng_key": ("allow", "warn", "error"),
    "jax_release": ("0.10.2", "0.12.0.1"),
    "numpy_rank_promotion": ("allow", "warn", "raise"),
    "numpy_dtype_promotion": ("standard", "strict"),
    "transfer_guard_host_to_device": ("allow", "log", "disallow_explicit"),
    "transfer_guard_device_to_host": ("allow", "log", "disallow_explicit"),
    "default_device": (None,),
    "export_calling_convention_version": (9, 10),
    "iree_driver": ("local-task", "local-sync", "cuda"),
    "iree_flags": ("", "--iree-opt-level=O3 --iree-cuda-target=sm_90"),
    "mesh": (None,),
    "abstract_mesh": (None,),
    "no_collectives": (None, "all", frozenset("x")),
    "open_sums": (frozenset(), frozenset({"x"})),
    "nnx_logical_axis_rules": ((), (("embed", "model"),)),
}
FLAGS = [name for name in SETTINGS if name not in LEGAL]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = {name: getattr(bindax.config, name) for name in SETTINGS}
    devices = bindax.devices()  # from now on num_cpu_devices cannot change
    assert devices
    assert random.key(0).shape == ()
    yield
    for name, value in before.items():
        if getattr(bindax.config, name) is not value:
            bindax.config.update(name, value)


def is_same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("name", SETTINGS)
def test_bad_values_are_refused_and_change_nothing(name: str) -> None:
    config = bindax.config
    for value in HOSTILE:
        if any(is_same(value, one) for one in TAKEN.get(name, ())):
            continue
        before = getattr(config, name)
        with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
            setattr(config, name, value)
        assert name in str(caught.value), value
        told = {"backend", "num_cpu_devices", "default_prng_impl"}  # by what there is
        assert "got" in str(caught.value) or name in told
        with pytest.raises(type(caught.value)), config.override(**{name: value}):
            pass
        assert getattr(config, name) is before
    assert jnp.sum(lax.add(jnp.ones(2), 1.0)) == 4
    assert random.normal(random.key(0)).shape == ()


@pytest.mark.parametrize("name", SETTINGS)
def test_legal_values_are_kept_in_one_form(name: str) -> None:
    for value in LEGAL.get(name, (False, True, 0, 1, np.True_)):
        bindax.config.update(name, value)
        found = getattr(bindax.config, name)
        assert found == value
        assert type(found) in (bool, int, str, type(None)) or found is value
        assert isinstance(found, bool) == (
            name in FLAGS or (name == "enable_x64" and found in (0, 1))
        )


@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if setting.variables])
def test_an_empty_variable_is_one_that_is_not_set(name: str) -> None:
    for text in ("", "  "):
        variables = dict.fromkeys(SETTINGS[name].variables, text)
        found = SETTINGS[name].read(variables)
        assert found == (SETTINGS[name].default, "default")


def test_variables_are_read() -> None:
    texts = {
        "BINDAX_ENABLE_X64": " True ",
        "BINDAX_DEFAULT_DTYPE_BITS": "64",
        "BINDAX_DEBUG_NANS": "on",
        "BINDAX_THREEFRY_PARTITIONABLE": "no",
        "BINDAX_TRANSFER_GUARD": "log",
        "BINDAX_BACKEND": "numpy",
        "XLA_FLAGS": "--xla_a=1 --xla_force_host_platform_device_count=4",
    }
    names = ("enable_x64", "default_dtype_bits", "debug_nans", "threefry_partitionable", "backend")
    found = [SETTINGS[name].read(texts)[0] for name in names]
    assert found == [True, 64, True, False, "numpy"]
    guard = SETTINGS["transfer_guard_device_to_host"]
    assert guard.read(texts) == ("log", "BINDAX_TRANSFER_GUARD")
    pytest.importorskip("bindax_xla_backend", reason="its settings are not installed")
    assert SETTINGS["num_cpu_devices"].read(texts) == (4, "XLA_FLAGS")
    assert SETTINGS["num_cpu_devices"].read({"XLA_FLAGS": "--xla_a=1"}) == (1, "default")


def test_importing_with_empty_variables() -> None:
    empty = {f"BINDAX_{name.upper()}": "" for name in SETTINGS} | {"BINDAX_TRANSFER_GUARD": ""}
    code = "import bindax; print(bindax.config.enable_x64, bindax.config.threefry_partitionable)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env=os.environ | empty, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["explicit", "True"]


def test_update_is_assignment() -> None:
    bindax.config.update("enable_x64", True)
    assert bindax.config.enable_x64 is True
    with pytest.raises(
        AttributeError, match=r"config has no setting 'jax_enable_x64'\. Did you mean"
    ):
        bindax.config.update("jax_enable_x64", True)


def test_misspelt_settings_are_told() -> None:
    with pytest.raises(
        AttributeError, match=r"no setting 'enable_x46'\. Did you mean 'enable_x64'"
    ):
        bindax.config.enable_x46 = True  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="Did you mean 'debug_nans'"):
        _ = bindax.config.debug_nan  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="Did you mean 'mesh'"), bindax.config.override(mesj=1):
        pass
    with pytest.raises(AttributeError, match="dtype_bits follows from settings and cannot be"):
        bindax.config.dtype_bits = 64
    with pytest.raises(AttributeError, match="cannot be deleted; assign another"):
        del bindax.config.enable_x64


def test_a_setting_of_a_package_that_is_not_installed_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    declared = {one.name for one in bindax.extend.manifest_entries("settings")}
    for name, package in _packages.optional_settings.items():
        installed = importlib.util.find_spec(package.replace("-", "_")) is not None
        assert (name in declared) == installed, name
    monkeypatch.setattr(_extension_points.runtime, "plugins", _extension_points.Plugins())
    for name, package in _packages.optional_settings.items():
        monkeypatch.delitem(_config.settings, name, raising=False)
        text = f"config has no setting '{name}'. Install {package}, which has it."
        with pytest.raises(AttributeError, match=re.escape(text)):
            bindax.config.update(name, 1)


def test_type_checkers_know_the_settings() -> None:
    hints = typing.get_type_hints(_settings.Settings)
    assert hints.keys() == {*SETTINGS, *_packages.optional_settings, "dtype_bits"}
    for name, setting in SETTINGS.items():
        if setting.choices == (False, True):
            assert hints[name] is bool, name
        elif setting.choices:
            members = typing.get_args(hints[name])
            flat = {x for one in members for x in (typing.get_args(one) or (one,))}
            choices = {bool if type(x) is bool else x for x in setting.choices}
            assert flat == choices, name


def test_the_table_says_where_each_value_comes_from() -> None:
    bindax.config.numpy_rank_promotion = "warn"
    with bindax.debug_infs():
        lines = [line.split() for line in repr(bindax.config).splitlines()]
    assert lines[0] == ["setting", "value", "from"]
    table = {line[0]: line[1:] for line in lines[1:]}
    # Other tests make contexts, which are settings of the process.
    assert [name for name in table if not name.startswith("user_context_")] == list(SETTINGS)
    assert table["numpy_rank_promotion"] == ["'warn'", "assignment"]
    assert table["debug_infs"] == ["True", "context"]
    code = "import bindax; print(bindax.config)"
    env = os.environ | {"BINDAX_EAGER": "compile"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert "'compile'" in done.stdout
    assert "BINDAX_EAGER\n" in done.stdout
