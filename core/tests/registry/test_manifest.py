"""The manifest is read from metadata alone, deterministically, and without importing anything."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bindax_core.registry import _manifest
from bindax_core.registry._manifest import Manifest

ENTRY_POINTS = """\
    [console_scripts]
    run = first.cli:main

    [bindax.v1]
    first = first.plugin

    [bindax.v1.primitives]
    # a comment
    first.b = first.ops:b_p
    first.a = first.ops:a_p [extra]

    [bindax.v1.pytrees]
    pair = first.containers:Outer.Pair
    """


def test_reads_entries_sorted_with_lines(tmp_path: Path, write_distribution: Any) -> None:
    path = write_distribution(tmp_path, "First.Plugin", "1.2", ENTRY_POINTS)
    manifest = Manifest([str(tmp_path)])
    entries = manifest.entries("primitives")

    assert [(entry.name, entry.value, entry.line) for entry in entries] == [
        ("first.a", "first.ops:a_p", 10),
        ("first.b", "first.ops:b_p", 9),
    ]
    assert entries[0].module == "first.ops"
    assert entries[0].attribute == "a_p"
    assert entries[0].distribution.label == "first-plugin 1.2"
    assert entries[0].place == f"{path / 'entry_points.txt'}:10"
    assert manifest.find("primitives", "first.a") == entries[:1]
    assert manifest.find("primitives", "first") == ()
    assert [entry.name for entry in manifest.types("first.containers:Outer.Pair")] == ["pair"]
    assert manifest.problems == ()


def test_any_order_of_the_search_path_gives_the_same_listing(
    tmp_path: Path, write_distribution: Any
) -> None:
    directories = []
    for name in ("one", "two", "three"):
        directories.append(str(tmp_path / name))
        write_distribution(tmp_path / name, name, "1.0", f"[bindax.v1]\n{name} = {name}.plugin\n")
    listings = {Manifest(order).entries("plugins") for order in itertools.permutations(directories)}

    assert len(listings) == 1


def test_a_distribution_found_twice_counts_once_from_the_first_directory(
    tmp_path: Path, write_distribution: Any
) -> None:
    editable, stale = tmp_path / "editable", tmp_path / "stale"
    write_distribution(editable, "my-plugin", "2.0", "[bindax.v1]\nnew = my.plugin\n")
    write_distribution(stale, "My_Plugin", "1.0", "[bindax.v1]\nold = my.plugin\n")

    assert [e.name for e in Manifest([str(editable), str(stale)]).entries("plugins")] == ["new"]
    assert [e.name for e in Manifest([str(stale), str(editable)]).entries("plugins")] == ["old"]


def test_a_first_copy_that_is_no_plugin_hides_a_later_one_that_is(
    tmp_path: Path, write_distribution: Any
) -> None:
    write_distribution(tmp_path / "a", "my-plugin", "1.0", "[console_scripts]\nx = y:z\n")
    write_distribution(tmp_path / "b", "my-plugin", "2.0", "[bindax.v1]\nnew = my.plugin\n")

    assert Manifest([str(tmp_path / "a"), str(tmp_path / "b")]).entries("plugins") == ()


@pytest.mark.parametrize(("old", "new"), [("1.9", "1.10"), ("1.0rc1", "1.0"), ("1.0", "1.0.post1")])
def test_of_two_copies_in_one_directory_the_newer_counts(
    tmp_path: Path, write_distribution: Any, old: str, new: str
) -> None:
    write_distribution(tmp_path, "my-plugin", old, "[bindax.v1]\nold = my.plugin\n")
    write_distribution(tmp_path, "my-plugin", new, "[bindax.v1]\nnew = my.plugin\n")

    assert [entry.name for entry in Manifest([str(tmp_path)]).entries("plugins")] == ["new"]


def test_an_egg_info_directory_gives_its_version(tmp_path: Path, write_distribution: Any) -> None:
    path = tmp_path / "my_plugin.egg-info"
    path.mkdir()
    (path / "PKG-INFO").write_text(
        "Metadata-Version: 2.1\nName: my-plugin\nVersion: 3.1\n", encoding="utf-8"
    )
    (path / "entry_points.txt").write_text("[bindax.v1]\nmine = my.plugin\n", encoding="utf-8")
    (entry,) = Manifest([str(tmp_path)]).entries("plugins")

    assert entry.distribution.label == "my-plugin 3.1"


def test_an_archive_on_the_search_path_is_read(tmp_path: Path, write_distribution: Any) -> None:
    archive = tmp_path / "plugins.zip"
    with zipfile.ZipFile(archive, "w") as stream:
        stream.writestr("my-1.0.dist-info/entry_points.txt", "[bindax.v1]\nmine = my.plugin\n")
    (entry,) = Manifest([str(archive)]).entries("plugins")

    assert entry.distribution.label == "my 1.0"


def test_what_is_not_a_distribution_is_skipped(tmp_path: Path, write_distribution: Any) -> None:
    write_distribution(tmp_path, "~y-plugin", "1.0", "[bindax.v1]\nleft = my.plugin\n")
    (tmp_path / "file.dist-info").write_text("not a directory", encoding="utf-8")
    missing = str(tmp_path / "missing")

    assert (
        Manifest([missing, str(tmp_path), str(tmp_path / "file.dist-info")]).entries("plugins")
        == ()
    )


def test_an_unsupported_version_is_refused_with_the_remedy(
    tmp_path: Path, write_distribution: Any
) -> None:
    write_distribution(
        tmp_path,
        "future",
        "9.0",
        "[bindax.v2]\nfuture = future.plugin\n[bindax.v2.primitives]\nf = future:f_p\n",
    )
    manifest = Manifest([str(tmp_path)])
    (refusal,) = manifest.refusals.values()

    assert manifest.entries("plugins") == ()
    assert manifest.entries("primitives") == ()
    assert refusal.remedy == (
        "future 9.0 was written for plugin API version 2, and the installed bindax-core supports "
        "version 1: upgrade bindax-core, or install a release of future for plugin API 1."
    )
    assert [entry.value for entry in manifest.refused("primitives", "f")] == ["future:f_p"]


def test_a_distribution_for_two_versions_is_used_through_the_supported_one(
    tmp_path: Path, write_distribution: Any
) -> None:
    text = "[bindax.v1]\nboth = both.v1\n[bindax.v2]\nboth = both.v2\n"
    write_distribution(tmp_path, "both", "1.0", text)
    manifest = Manifest([str(tmp_path)])

    assert [entry.value for entry in manifest.entries("plugins")] == ["both.v1"]
    assert manifest.refusals == {}


def test_problems_name_file_line_and_reason(tmp_path: Path, write_distribution: Any) -> None:
    text = "[bindax.v1.primitive]\na = b:c\n[bindax.v1.rules]\nx\ny = m:y\ny = m:z\n"
    write_distribution(tmp_path, "bad", "1.0", text)
    problems = Manifest([str(tmp_path)]).problems

    assert [problem.line for problem in problems] == [1, 3, 4, 6]
    assert "the group 'bindax.v1.primitive' is unknown; known are bindax.v1," in problems[0].text
    assert problems[1].text.startswith('the group "bindax.v1" is missing')
    assert problems[2].text == "the line 'x' is not of the form name = module:object"
    assert problems[3].text == "'y' is declared twice in one group; line 5 counts"


def test_one_scan_per_process_also_from_threads(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scans = []
    monkeypatch.setattr(_manifest, "Manifest", lambda path: scans.append(path) or object())
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(_manifest.manifest())) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(scans) == 1
    assert len({id(one) for one in found}) == 1
    _manifest.refresh_manifest()
    assert _manifest.manifest() is not found[0]


def test_reading_imports_neither_plugins_nor_importlib_metadata(site: Any) -> None:
    for number in range(20):
        site.plugin(f"dummy_{number}", "raise SystemExit", "[bindax.v1.primitives]\na = b:c\n")
    script = (
        "import sys\n"
        "from bindax_core.registry import _manifest\n"
        "found = _manifest.manifest()\n"
        "assert len([e for e in found.entries('plugins') if e.name.startswith('dummy')]) == 20\n"
        "assert not [name for name in sys.modules if name.startswith('dummy')]\n"
        "assert 'importlib.metadata' not in sys.modules\n"
        "assert 'pluggy' not in sys.modules\n"
    )
    path = os.pathsep.join([str(site.directory), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
