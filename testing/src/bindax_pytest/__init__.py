"""``pytest --bindax-conformance=NAME``, and the marker ``bindax_function`` for single functions.

Loaded by pytest through its entry point, in every run wherever it is installed. It is a package of
its own, so that nothing of bindax is imported before the option is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("bindax", "conformance of bindax plugins")
    group.addoption(
        "--bindax-conformance",
        action="append",
        default=[],
        metavar="NAME",
        help="check the rules of an installed plugin; may be given more than once",
    )
    group.addoption(
        "--bindax-budget", type=float, default=60.0, help="seconds for each plugin (default: 60)"
    )
    group.addoption("--bindax-seed", type=int, default=0, help="seed of samples (default: 0)")
    group.addoption(
        "--bindax-time-limit",
        type=float,
        default=10.0,
        help="seconds for one check of one sample (default: 10)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        "bindax_function(**options): the test returns a function and its arguments, which "
        "bindax_testing.check_function checks",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Check the function that a marked test returns."""
    marker = pyfuncitem.get_closest_marker("bindax_function")
    if marker is None:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    given = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    if not isinstance(given, tuple) or not given or not callable(given[0]):
        pytest.fail(
            f"a test marked bindax_function returns a function and its arguments, such as "
            f"(loss, np.ones(3)), but this one returned {given!r:.80}.",
            pytrace=False,
        )
    from bindax_testing import check_function

    report = check_function(*given, **marker.kwargs)
    if not report.ok:
        pytest.fail(str(report), pytrace=False)
    return True


class ConformanceItem(pytest.Item):
    """One check of one primitive of a plugin; its share of the budget is in seconds."""

    plugin: str
    primitive: str
    check: str
    share: float

    def runtest(self) -> None:
        """Run the check; fail with the report of what is wrong."""
        from bindax_testing._conformance import check_one_of
        from bindax_testing._results import EXPECTED, NOT_RUN, SKIPPED, UNCHECKED

        seed = self.config.getoption("bindax_seed")
        limit = self.config.getoption("bindax_time_limit")
        results = check_one_of(self.plugin, self.primitive, self.check, self.share, seed, limit)
        failures = [result for result in results if result.is_wrong]
        if failures:
            pytest.fail("\n\n".join(map(str, failures)), pytrace=False)
        for result in results:
            self.user_properties.append(("cases", f"{result.ran} of {result.planned}"))
            if result.status == EXPECTED:
                pytest.xfail(result.reason)
            if result.status in (SKIPPED, UNCHECKED, NOT_RUN):
                pytest.skip(f"{result.status}: {result.reason}")

    def reportinfo(self) -> tuple[str, int | None, str]:
        """Name the test for pytest."""
        return f"conformance of {self.plugin}", None, f"{self.plugin}: {self.name}"


def _only_conformance(config: pytest.Config) -> bool:
    """Tell whether the option was given without any path, so that no other tests are meant."""
    given = getattr(config, "workerinput", {}).get("bindax_only")
    if given is not None:
        return bool(given)
    explicit = config.args_source is pytest.Config.ArgsSource.ARGS
    return bool(config.getoption("bindax_conformance")) and not explicit


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist, which cannot see it, whether paths were given."""
    node.workerinput["bindax_only"] = _only_conformance(node.config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> bool | None:
    """Collect the checks alone when no path was given."""
    config = session.config
    if config.pluginmanager.hasplugin("dsession") or not _only_conformance(config):
        return None
    session.items = []
    session.items.extend(_items(session))
    config.hook.pytest_collection_modifyitems(session=session, config=config, items=session.items)
    config.hook.pytest_collection_finish(session=session)
    session.testscollected = len(session.items)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the checks to the tests of the paths that were given."""
    if config.getoption("bindax_conformance") and not _only_conformance(config):
        items.extend(_items(session))


def _items(session: pytest.Session) -> Iterator[ConformanceItem]:
    """One item for each check of each primitive of the plugins that were named."""
    from bindax_core.errors import PluginError
    from bindax_testing._conformance import checks_of

    for plugin in session.config.getoption("bindax_conformance"):
        try:
            checks = checks_of(plugin)
        except PluginError as error:
            raise pytest.UsageError(str(error)) from error
        share = session.config.getoption("bindax_budget") / max(len(checks), 1)
        for primitive, check in [("", "samples"), *checks]:
            name = f"{primitive}-{check}" if primitive else check
            made = ConformanceItem.from_parent(
                session, name=name, nodeid=f"conformance::{plugin}::{name}"
            )
            made.plugin, made.primitive, made.check, made.share = plugin, primitive, check, share
            made.extra_keyword_matches.add(plugin)
            yield made
