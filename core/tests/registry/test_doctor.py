"""The doctor finds every kind of broken plugin, and none ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from bindax_core.registry._loader import AVAILABLE, LOADED, QUARANTINED
from bindax_core.registry._plugin_settings import configured
from bindax_diagnosis import _doctor

PRIMITIVES = "[bindax.v1.primitives]\nmine.p = mine:p\n"
HOOK = "\np = 1\n@hookimpl\ndef bindax_primitives():\n    return ['mine.p']\n"


def report(tables: Any) -> list[Any]:
    return _doctor.doctor_report(tables.resolver)


def problems(tables: Any) -> str:
    return "\n".join(one["text"] for one in report(tables) if one["severity"] == "problem")


def test_all_is_well(site: Any, tables: Any) -> None:
    site.plugin("mine", HOOK, PRIMITIVES)
    assert report(tables) == []


RAISING = {
    "SystemExit": ("raise SystemExit(3)", "SystemExit: 3"),
    "GeneratorExit": ("raise GeneratorExit", "GeneratorExit"),
    "RecursionError": ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
    "MemoryError": ("raise MemoryError('all gone')", "MemoryError: all gone"),
    "missing dependency": ("import no_such_library", "No module named 'no_such_library'"),
    "missing name": ("from os import no_such_name", "cannot import name 'no_such_name' from 'os'"),
    "circular import": ("from mine import later\nlater = 1", "partially initialized module 'mine'"),
    "warning as error": (
        "import warnings\nwarnings.simplefilter('error')\nwarnings.warn('old')",
        "UserWarning: old",
    ),
    "not UTF-8": ("x = '\udcff'", "SyntaxError"),
    "null byte": ("x = '\0'", "null bytes"),
    "exception without text": ("class E(Exception): __str__ = None\nraise E", "E"),
    "attributes that raise": (
        "def __dir__(): return ['bindax_x']\ndef __getattr__(name): raise OSError('no ' + name)",
        "OSError: no bindax_x",
    ),
    "hook that returns a number": (
        "@hookimpl\ndef bindax_primitives(): return 7",
        "the hook bindax_primitives of mine must return an iterable of object, but returned 7.",
    ),
    "hook with an argument": (
        "@hookimpl\ndef bindax_primitives(x): return []",
        "bindax_primitives",
    ),
    "hook that raises half-way": (
        "@hookimpl\ndef bindax_primitives():\n    yield 'mine.p'\n    raise OSError('late')",
        "OSError: late",
    ),
}


@pytest.mark.parametrize("name", RAISING)
def test_plugin_that_cannot_be_loaded_is_reported_and_the_rest_is_loaded(
    site: Any, tables: Any, name: str
) -> None:
    text, message = RAISING[name]
    site.plugin("mine", "")
    file = site.directory / "mine.py"
    head = "from bindax_core.registry._hooks import hookimpl\n"
    file.write_bytes((head + text).encode("utf-8", "surrogateescape"))
    site.plugin("other", "@hookimpl\ndef bindax_primitives():\n    return []\n")

    (record,) = [one for one in report(tables) if one["severity"] == "problem"]
    assert record["subject"] == "plugin 'mine' of mine-dist 1.0"
    assert message in record["text"]
    assert record["traceback"]
    assert "deny it with BINDAX_PLUGINS_DENY=mine-dist" in record["remedy"]
    assert tables.loader.named("mine")[0].status == QUARANTINED
    assert tables.loader.named("other")[0].status == LOADED
    assert tables.primitives == {}


def test_strict_mode_does_not_end_the_report(site: Any, tables: Any) -> None:
    site.plugin("first", "raise ValueError('one')")
    site.plugin("second", "raise ValueError('two')")
    with configured(strict=True):
        found = problems(tables)
    assert "ValueError: one" in found
    assert "ValueError: two" in found


def test_interrupt_while_a_plugin_loads_does_not_end_the_report(site: Any, tables: Any) -> None:
    site.plugin("mine", "raise KeyboardInterrupt")
    site.plugin("other", "raise ValueError('another')")
    first, second = report(tables)
    assert first["subject"] == "plugin 'mine' of mine-dist 1.0"
    assert first["text"].startswith("was interrupted while it was being loaded, by Ctrl-C or by a")
    assert "raise KeyboardInterrupt" in first["traceback"]
    assert "BINDAX_PLUGINS_DENY=mine-dist" in first["remedy"]
    assert "ValueError: another" in second["text"]
    assert tables.loader.named("mine")[0].status == AVAILABLE


@pytest.mark.skipif(os.name == "nt", reason="signals are sent in another way here")
def test_ctrl_c_skips_a_plugin_that_hangs(site: Any, tables: Any) -> None:
    site.plugin("mine", "import time\ntime.sleep(60)")
    site.plugin("other", HOOK, PRIMITIVES.replace("mine:", "other:"))
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    main = threading.main_thread().ident or 0
    timer.start()
    (record,) = report(tables)
    assert "time.sleep(60)" in record["traceback"]
    assert tables.loader.named("other")[0].status == LOADED


MISSING = {
    "bindax.v1": "could not be loaded: AttributeError: module 'mine' has no attribute 'missing'",
    **dict.fromkeys(
        ("primitives", "pytrees", "values", "rules", "backends", "operations", "transformations"),
        "names 'missing', which the module 'mine' does not have",
    ),
}


@pytest.mark.parametrize("group", MISSING)
def test_entry_that_names_a_missing_object(site: Any, tables: Any, group: str) -> None:
    if group == "bindax.v1":
        site.distribution("mine-dist", "[bindax.v1]\nmine = mine:missing\n")
        site.module("mine", "")
    else:
        site.plugin("mine", HOOK, f"[bindax.v1.{group}]\nmine.p = mine:missing\n")
    found = problems(tables)
    assert MISSING[group] in found
    if group != "bindax.v1":
        assert f"the {group} entry 'mine.p' (" in found
        assert "entry_points.txt:4) names" in found


def test_entry_that_names_a_missing_module(site: Any, tables: Any) -> None:
    site.plugin("mine", HOOK, "[bindax.v1.primitives]\nmine.p = no_such_module.x:p\n")
    assert "names the module 'no_such_module.x', which cannot be found" in problems(tables)


def test_an_import_that_the_metadata_does_not_require(site: Any, tables: Any) -> None:
    later = "\ndef later():\n    import bindax_transforms\n"
    site.plugin("mine", "import sys, \\\n    bindax_diagnosis" + later + HOOK, PRIMITIVES)
    metadata = site.directory / "mine_dist-1.0.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text() + "Requires-Dist: bindax-core\n")
    (record,) = report(tables)
    place = f"{site.directory / 'mine.py'}:2"
    assert record["text"] == (
        f"imports bindax-diagnosis ({place}), which its metadata does not require"
    )


def test_two_plugins_of_one_name(site: Any, tables: Any) -> None:
    for owner in ("first", "second"):
        site.distribution(f"{owner}-dist", f"[bindax.v1]\nmine = {owner}\n")
        site.module(owner, "from bindax_core.registry._hooks import hookimpl\n" + HOOK)
    texts = [one["text"] for one in report(tables) if one["severity"] == "notice"]
    assert texts == ["first-dist and second-dist have a plugin of this name each"]


def test_names_and_metadata_beyond_ascii(site: Any, tables: Any) -> None:
    site.distribution(
        "mine-dist", "[bindax.v1]\ngrüße = mine\n[bindax.v1.primitives]\nö = mine:p\n"
    )
    site.module("mine", "from bindax_core.registry._hooks import hookimpl\n" + HOOK)
    assert "the primitive 'ö' is offered in" in problems(tables)


def test_plugin_of_another_api_version(site: Any, tables: Any) -> None:
    site.distribution("mine-dist", "[bindax.v9]\nmine = mine\n")
    (record,) = report(tables)
    assert record["text"] == "refused"
    assert "was written for plugin API version 9" in record["remedy"]


REPLACING = {
    "a function of NumPy": ("import numpy\nnumpy.{name} = lambda x: x", "numpy.{name}"),
    "a method of arrays": (
        "from bindax_core import Array\nArray.{name} = lambda self: self",
        "bindax_core.arrays._array.Array.{name}",
    ),
    "a function of the kernel": (
        "import bindax_core.tree_util as module\nmodule.{name} = lambda x: x",
        "bindax_core.tree_util.{name}",
    ),
    "a function, by a partial application": (
        "import functools, numpy\nnumpy.{name} = functools.partial(lambda x, y: x, 1)",
        "numpy.{name}",
    ),
}


@pytest.mark.parametrize("name", REPLACING)
def test_plugin_that_replaces_functions_of_others(
    site: Any, tables: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text, replaced = (part.format(name="block") for part in REPLACING[name])
    site.plugin("mine", text)
    import bindax_core
    import bindax_core.tree_util

    for owner in (np, bindax_core.tree_util, bindax_core.Array):
        monkeypatch.setattr(owner, "block", getattr(owner, "block", None), raising=False)
    found = {one["text"] for one in report(tables) if "replaces" in one["text"]}
    line = text.count("\n") + 2
    wanted = f"replaces {replaced} by a function of its own ({site.directory}/mine.py:{line})"
    assert wanted in found
    sys.modules.pop("mine")


def test_no_installed_plugin_replaces_anything() -> None:
    # In a process of its own: in this one, tests may have had a package replace something.
    code = (
        "import bindax_core, sys\n"
        "from bindax_core.registry._manifest import Manifest\n"
        "from bindax_diagnosis._replaced import replaced_functions\n"
        "bindax_core.load_plugins()\n"
        "print(replaced_functions(Manifest(sys.path)))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
