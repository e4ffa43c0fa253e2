"""Extension points: one object in which lower layers look up what they need of higher ones.

The kernel asks for plugins on a miss without knowing how they are found: ``bindax_core`` puts the
resolver here when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class Plugins:
    """The resolver of plugins, as the kernel sees it; until one is connected, it finds nothing."""

    def load_for_rule(self, kind: str, primitive: Any) -> bool:
        """Load the plugins that bring rules of a kind; True when looking again makes sense."""
        return False

    def find_rule_kind(self, name: str, maker: str = "") -> Any:
        """Import the rule kind of a name from the package that declares it.

        None if no package does, or it is ``maker``, the module that makes the kind now.
        """
        return None

    def rule_kind_names(self, *, canonical: bool = False) -> list[str]:
        """The rule kinds that packages declare, or those that every definition must mention."""
        return []

    def declare(self, primitive: Any) -> None:
        """Note a primitive that is declared; an error where a module declares two of a name."""

    def forget(self, primitive: Any) -> None:
        """Take back a declaration that failed."""

    def find_setting(self, name: str, maker: str = "") -> Any:
        """Import the setting of a name, as ``find_rule_kind``."""
        return None

    def setting_names(self) -> list[str]:
        """The settings that packages offer."""
        return []

    def load_for_type(self, type_: type) -> bool:
        """Load the plugin that offers a value or container type; True when it is registered."""
        return False

    def load_for_operations(self, attribute: str | None = None) -> bool:
        """Load the plugins that offer array operations, or an array attribute (``*``: any)."""
        return False

    def load_backends(self, name: str | None = None) -> Any:
        """Load the plugin of a named backend, or of all."""

    def find_primitive(self, name: str) -> Any:
        """The primitive of a name, loading the plugin that offers it; None if there is none."""
        return None

    def load_accelerator(self) -> None:
        """Load the plugin that offers fast paths."""

    def provenance_of(self, site: Any) -> Any:
        """The distribution, version, file and line of a place in the code."""
        return site

    def describe_site(self, site: Any) -> str:
        """A place in the code with its distribution and version, for messages."""
        return str(site)

    def candidates(self, kind: str) -> list[str]:
        """The installed distributions that offer a rule kind, for messages."""
        return []

    def failure_behind_rule(self, kind: str) -> BaseException | None:
        """The failure of a plugin that offers a rule kind: the cause of a missing rule."""
        return None


class ExtensionPoints:
    """The state of this process that several layers share.

    Attributes:
        plugins: the resolver of plugins.
        wrap_rule: put around every function that interpreters call, by the debug mode that checks
            rules; None while it is off.
        has_compiler_threads: whether programs may be compiled: not in a process forked after a
            compiler started threads, since the child would wait for them for ever.
        trace_ended: called with each trace that ends, by the debug mode that looks for values that
            leak; None while it is off.
        keeper_of: gives a sentence about the rule that keeps a value of a trace, for messages.
        is_high: tells whether operations in a jaxpr stand for others.
        show_jaxpr: gives the text of a jaxpr or an equation.
        devices: gives the devices of the backend that ``jit`` uses.
        placed_results: gives the types of the results of a primitive from types of operands that
            say how these lie on devices, and from the plain ones.
    """

    __slots__ = (
        "devices",
        "has_compiler_threads",
        "is_high",
        "keeper_of",
        "placed_results",
        "plugins",
        "show_jaxpr",
        "trace_ended",
        "wrap_rule",
    )

    def __init__(self) -> None:
        self.plugins = Plugins()
        self.wrap_rule: Callable[[Any, Any, Callable[..., Any]], Callable[..., Any]] | None = None
        self.has_compiler_threads = True
        self.trace_ended: Callable[[Any], None] | None = None
        self.keeper_of: Callable[[Any], str] = lambda main: ""
        self.show_jaxpr: Callable[..., str] = object.__repr__
        self.is_high: Callable[[Any], bool] = lambda jaxpr: False
        self.devices: Callable[[], Sequence[Any]] = list
        self.placed_results: Callable[..., Sequence[Any]] = _plain_results


def _plain_results(primitive: Any, avals: Any, plain: Any, params: dict[str, Any]) -> Sequence[Any]:
    found: Sequence[Any] = primitive.out_avals(plain, params)
    return found


runtime = ExtensionPoints()
"""The runtime of this process."""


def on_end_of_traces(function: Callable[[Any], None] | None) -> None:
    """Have a function called with each trace that ends without an error, or none any more.

    >>> from bindax_transforms import make_jaxpr
    >>> on_end_of_traces(lambda main: print("ended:", main.origin.transformation))
    >>> closed = make_jaxpr(lambda x: x)(1.0)
    ended: make_jaxpr
    >>> on_end_of_traces(None)
    """
    runtime.trace_ended = function


def find_keepers_with(function: Callable[[Any], str]) -> None:
    """Have a function name the rule that keeps a value of a trace, for messages."""
    runtime.keeper_of = function
