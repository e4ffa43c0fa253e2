"""A broken and a clashing package are reported, and nothing else is disturbed."""

from __future__ import annotations

from typing import Any

ALL_IS_WELL = """
from bindax import grad, tree
from bindax_example_softsign import softsign
assert float(grad(softsign)(1.0)) == 0.25
assert tree.leaves({"a": (1, 2)}) == [1, 2]
"""


def test_the_broken_one_is_quarantined_and_doctor_shows_its_traceback(environment: Any) -> None:
    commands = ("doctor --json", "doctor")
    records, text = environment.bindax_each(*commands, plugins=["broken"], expect=1)
    (record,) = [one for one in records if one["severity"] == "problem"]

    assert record["subject"] == "plugin 'broken' of bindax-example-broken 0.1.0"
    assert "RuntimeError: the example device is not plugged in" in record["text"]
    assert "bindax_example_broken/__init__.py" in record["traceback"]
    assert "BINDAX_PLUGINS_DENY=bindax-example-broken" in record["remedy"]
    assert 'raise RuntimeError("the example device is not plugged in")' in text


def test_the_broken_one_disturbs_nothing_and_raises_when_it_is_used(environment: Any) -> None:
    environment.script(
        ALL_IS_WELL
        + """
import warnings
import bindax_core
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    bindax_core.load_plugins()
(warning,) = caught
assert "the plugin 'broken' of bindax-example-broken 0.1.0" in str(warning.message)
statuses = {r["plugin"]: r["status"] for r in bindax_core.installed_plugins()}
assert statuses.pop("broken") == "quarantined", statuses
assert set(statuses.values()) == {"loaded"}, statuses
for _ in range(2):
    try:
        bindax_core.find_primitive("example.broken")
    except bindax_core.errors.PluginLoadError as error:
        assert isinstance(error.__cause__, RuntimeError), error.__cause__
        assert "bindax doctor" in str(error)
    else:
        raise AssertionError("no error")
"""
        + ALL_IS_WELL,
        plugins=["broken"],
    )


def test_strict_mode_raises(environment: Any) -> None:
    environment.script(
        """
import bindax_core
try:
    bindax_core.load_plugins()
except bindax_core.errors.PluginLoadError as error:
    assert "device is not plugged in" in str(error)
else:
    raise AssertionError("no error")
""",
        plugins=["broken"],
        settings={"BINDAX_PLUGINS_STRICT": "1"},
    )


def test_denied_the_broken_one_is_no_problem(environment: Any) -> None:
    settings = {"BINDAX_PLUGINS_DENY": "broken"}

    commands = ("doctor --json", "plugins --json")
    problems, records = environment.bindax_each(*commands, plugins=["broken"], settings=settings)
    assert problems == []
    (record,) = [one for one in records if one["plugin"] == "broken"]
    assert record["status"] == "denied"
    assert record["why"] == "it is on the deny list (environment variable BINDAX_PLUGINS_DENY)"


def test_the_clashing_one_is_reported_with_both_sides(environment: Any) -> None:
    commands = ("plugins --json", "doctor --json")
    records, told = environment.bindax_each(*commands, plugins=["clashing"], expect=1)
    statuses = {record["plugin"]: record["status"] for record in records}

    assert statuses.pop("clashing") == statuses.pop("softsign") == "conflict"
    assert set(statuses.values()) == {"available"}
    problems = [one["text"] for one in told if one["severity"] == "problem"]
    assert [text.split(" is offered")[0] for text in problems] == [
        "the primitive 'example.softsign'",
        "the pytree type bindax_example_softsign.containers:Bounds",
    ]
    for text in problems:
        assert "bindax-example-clashing 0.2.0" in text
        assert "bindax_example_clashing/__init__.py" in text
        assert "bindax-example-softsign 0.1.0" in text
        assert "bindax_example_softsign/" in text


def test_the_clash_is_an_error_on_use_of_the_name_and_disturbs_nothing_else(
    environment: Any,
) -> None:
    script = """
import bindax_core
from bindax import grad, tree
from bindax_example_softsign import Bounds, softsign
uses = (
    lambda: bindax_core.find_primitive("example.softsign"),
    lambda: tree.leaves(Bounds(1, 2)),
)
for use in uses:
    for _ in range(2):
        try:
            use()
        except bindax_core.errors.PluginConflictError as error:
            for part in ("bindax-example-clashing 0.2.0", "bindax-example-softsign 0.1.0",
                         "bindax_example_clashing/__init__.py", "BINDAX_PLUGINS_PREFER="):
                assert part in str(error), error
        else:
            raise AssertionError("no error")
assert bindax_core.find_primitive("example.double").name == "example.double"
assert float(grad(softsign)(1.0)) == 0.25  # the function is unambiguous
assert tree.leaves({"a": (1, 2)}) == [1, 2]
"""
    environment.script(script, plugins=["clashing"])
    environment.script(
        "import bindax_core; bindax_core.load_plugins('softsign', 'clashing')" + script,
        plugins=["clashing"],
    )


def test_a_ranking_settles_the_clash(environment: Any) -> None:
    for winner in ("softsign", "clashing"):
        environment.script(
            f"""
import bindax_core
from bindax import tree
from bindax_example_softsign import Bounds
bindax_core.load_plugins("softsign", "clashing")
site = bindax_core.find_primitive("example.softsign").site
assert site.module.startswith("bindax_example_{winner}"), site
assert len(tree.leaves(Bounds(1, 2))) == {2 if winner == "softsign" else 1}
""",
            plugins=["clashing"],
            settings={"BINDAX_PLUGINS_PREFER": f"bindax-example-{winner}"},
        )


def test_the_conformance_kit_names_the_broken_one_and_checks_the_others(environment: Any) -> None:
    environment.script(
        """
import warnings
from bindax_core import errors
from bindax_testing import check_plugin
warnings.simplefilter("ignore", errors.PluginWarning)
try:
    check_plugin("broken")
except errors.PluginLoadError as error:
    for part in ("'broken' of bindax-example-broken 0.1.0", "the example device"):
        assert part in str(error), error
else:
    raise AssertionError("no error")
report = check_plugin("softsign", budget=10.0)
assert report.ok, report
passed = {result.check for result in report.results if result.status == "passed"}
assert {"round trip", "jvp"} <= passed, passed
""",
        plugins=["broken"],
    )


def test_the_conformance_kit_names_both_sides_of_a_clash(environment: Any) -> None:
    environment.script(
        """
from bindax_testing import check_plugin
for name in ("softsign", "clashing"):
    report = check_plugin(name, budget=5.0)
    assert not report.ok
    (text,) = [one.reason for one in report.failures if "'example.softsign'" in one.reason]
    for part in ("bindax-example-clashing 0.2.0", "bindax-example-softsign 0.1.0", "_PREFER="):
        assert part in text, text
""",
        plugins=["clashing"],
    )
