"""The errors that users of bindax can meet; public as ``bindax.errors``.

Every message says what was wrong, where, and what to do. The names are the ones JAX gives to the
same situations, so that ``except`` clauses move with a program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any


class BindaxError(Exception):
    """Base of every error that bindax defines.

    >>> from bindax_core import devices
    >>> try:
    ...     devices("no such backend")
    ... except BindaxError as error:
    ...     print(type(error).__name__)
    BackendError
    """


class ConcretizationTypeError(BindaxError, TypeError):
    """A traced value was used where a concrete one is needed."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A traced value was used as the condition of ``if``, ``while``, ``and``, ``or`` or ``not``."""


class NonConcreteBooleanIndexError(ConcretizationTypeError, IndexError):
    """A traced array of booleans was used as an index, so that no shape is known."""


class TracerArrayConversionError(ConcretizationTypeError):
    """A traced value was handed to NumPy."""


class TracerIntegerConversionError(ConcretizationTypeError):
    """A traced value was used as a Python integer, for example as an index of a list."""


class UnexpectedTracerError(BindaxError):
    """A tracer was used after its trace had ended, or in another thread."""


class TracingRecursionError(BindaxError, RecursionError):
    """A function that is being traced calls itself with arguments of the same types."""


class ShapeError(BindaxError, TypeError, ValueError):
    """An operand has a shape that a function does not take, or cannot take a shape."""


class ManualAxisError(BindaxError, ValueError, NotImplementedError):
    """A request that other axes of a mesh allow, and those inside of ``shard_map`` do not."""


class AbstractionError(BindaxError, TypeError):
    """A value is of a type that no installed plugin makes a legal operand.

    >>> from bindax_core import typeof
    >>> try:
    ...     typeof("a text")
    ... except AbstractionError:
    ...     print("no operand")
    no operand
    """


class MaskedArrayError(AbstractionError, ValueError):
    """A masked array of NumPy is given where its mask would be ignored.

    >>> import numpy as np
    >>> from bindax_core import typeof
    >>> try:
    ...     typeof(np.ma.array([1, 2], mask=[False, True]))
    ... except ValueError:
    ...     print("no operand")
    no operand
    """


class ShardingTypeError(BindaxError, TypeError):
    """Operands lie on devices in ways that do not say how a result does.

    >>> from bindax_core.sharding import AbstractMesh, AxisType, NamedSharding, P
    >>> from bindax_core.extend import ShapedArray
    >>> from bindax_lax_basic import mul_p
    >>> mesh = AbstractMesh((2, 2), ("x", "y"), (AxisType.Explicit,) * 2)
    >>> kinds = [NamedSharding(mesh, P("x")), NamedSharding(mesh, P("y"))]
    >>> try:
    ...     mul_p.out_avals(tuple(ShapedArray((4,), "float32", sharding=k) for k in kinds), {})
    ... except ShardingTypeError as error:
    ...     print(error)
    mul got incompatible shardings for broadcasting, along axis 0: float32[4@x], float32[4@y]...
    """


class UnreducedError(ShardingTypeError, NotImplementedError):
    """A function that is not linear was applied to terms of a sum that is still to be added up."""


class TypePromotionError(BindaxError, TypeError, ValueError):
    """Arrays have different dtypes that are not promoted to a common one."""


class JaxprTypeError(BindaxError, TypeError):
    """A jaxpr is not well formed, or an equation's types do not agree."""


class JaxprTextError(BindaxError, ValueError):
    """A jaxpr cannot be written as text, or a text cannot be read as a jaxpr here."""


class RuleOutputError(BindaxError, TypeError, ValueError):
    """A rule returned something that its primitive's abstract evaluation contradicts.

    Attributes:
        primitive: the primitive that was being interpreted, or None.
        kind: the name of the rule's kind.
    """

    primitive: Any = None
    kind: str = "impl"


class NonFiniteError(BindaxError, FloatingPointError):
    """A NaN or an infinity was found while ``config.debug_nans`` or ``debug_infs`` is on.

    Args:
        found: what was found, in which operation and in what.
        place: the user's line with the names around it, or None when it is not known.
        advice: how it was found, and what to do.
    """

    def __init__(self, found: str, place: Any, advice: str) -> None:
        self.found = found
        self.advice = advice
        self.place: Any = place
        super().__init__(found, place, advice)

    def __str__(self) -> str:
        at = "" if self.place is None else f" {self.place.where}"
        return f"{self.found}{at}. {self.advice}"


class MissingRuleError(BindaxError, NotImplementedError):
    """No installed plugin has the rule that an interpreter needs."""


class MissingOperationsError(BindaxError, NotImplementedError):
    """No installed plugin supplies the array operations or the operator that was used."""


class DuplicateRuleError(BindaxError, ValueError):
    """A second rule was given for one primitive, or a second kind or primitive of one name."""


class PluginError(BindaxError):
    """Base of what can be wrong with a plugin."""


class PluginLoadError(PluginError, ImportError):
    """A plugin raised while it was being loaded; the cause is chained."""


class PluginConflictError(PluginError, ValueError):
    """Two distributions offer the same primitive, rule or pytree type."""


class PluginVersionError(PluginError, ImportError):
    """A plugin was written for a plugin API version that this bindax does not have."""


class PluginWarning(UserWarning):
    """A plugin failed to load; everything else works, and using it raises PluginLoadError.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PluginWarning)
    """


class TreeError(BindaxError, ValueError):
    """A pytree has the wrong structure, or a pytree type is defined wrongly.

    >>> from bindax_core import tree
    >>> try:
    ...     tree.map(lambda a, b: a, [1], [1, 2])
    ... except TreeError:
    ...     print("two structures")
    two structures
    """


class BackendError(BindaxError, RuntimeError):
    """A backend could not be found, or could not compile or run a program."""


class OutOfMemoryError(BackendError, MemoryError):
    """A backend had no memory left for a value of a program; the message lists what takes it.

    >>> issubclass(OutOfMemoryError, MemoryError)
    True
    """


class CustomRuleError(UnexpectedTracerError, TypeError):
    """A derivative was asked for along what a function with rules of its own closes over."""


class TransferError(BindaxError, RuntimeError):
    """Bytes would move between host and device, which a setting does not allow."""


class PlacementError(BackendError, ValueError):
    """Arrays, or the meshes of a program, are on devices that do not fit together."""


class IndivisibleError(BindaxError, ValueError):
    """An axis of an array cannot be divided into as many equal parts as a sharding asks for."""


class MissingMeshError(BindaxError, ValueError, RuntimeError):
    """A ``PartitionSpec`` was given alone, and no mesh is set."""


class KeyReuseError(BindaxError, RuntimeError, ValueError):
    """A random key was used twice.

    >>> issubclass(KeyReuseError, ValueError)
    True
    """


class DeletedArrayError(BindaxError, RuntimeError):
    """An array was used whose bytes were deleted, or donated to a compiled function."""


class UnhashableMetadataNotice(UserWarning):
    """Metadata of a pytree node cannot be hashed, so structures are found by comparing them.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", UnhashableMetadataNotice)
    """


class DerivedRuleNotice(UserWarning):
    """A primitive runs on a rule that was derived, which may be slower than one of its own.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DerivedRuleNotice)
    """


class RecompilationWarning(UserWarning):
    """``jit`` compiles one function again and again, for few calls of each program.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", RecompilationWarning)
    """


def clause(text: object) -> str:
    """The text of an error without its full stop, to be a part of another sentence."""
    return str(text).rstrip(". ")


def name_function(error: BaseException, function: Any) -> None:
    """Put the name of the function that was called before a message of another one that lacks it.

    Messages of Python, of NumPy and about operands alone say what was wrong, and not where.
    """
    # A function that a transformation returned is called by the name of the transformation.
    text, name = str(error), function.__qualname__.partition(".")[0]
    foreign = type(error).__module__ == "builtins" or isinstance(error, AbstractionError)
    method = "." in function.__qualname__ and "<locals>" not in function.__qualname__
    ours = function.__module__.startswith("bindax") and not method
    named = re.search(rf"\b{re.escape(name)}\b", text)
    if foreign and ours and error.args == (text,) and not named:
        error.args = (f"{name}: {text}",)


# Each error here is public. Type checkers would take this for all that there is.
vars()["__all__"] = [
    name
    for name, value in list(vars().items())
    if isinstance(value, type) and issubclass(value, BaseException)
]


def suggestion(name: str, known: Iterable[str]) -> str:
    """A question about the known name that is most like another one, or nothing."""
    return _suggestion(name, frozenset(known))


@lru_cache(maxsize=32)  # programs that try what an object can do ask for the same names
def _suggestion(name: str, known: frozenset[str]) -> str:
    from difflib import get_close_matches  # loaded for messages alone

    close = get_close_matches(name, sorted(known), 3)
    if not close:
        return ""
    best = next((one for one in close if one[0] == name[0]), close[0])
    return f" Did you mean {best!r}?"


def missing_attribute(
    module: str, name: str, known: Iterable[str] | Callable[[], Iterable[str]]
) -> AttributeError:
    """The error about a name that a module does not have; it suggests one that it has.

    Args:
        module: the name of the module.
        name: the one that is missing. One with an underscore in front is nobody's mistake: the
            import system and others ask for ``__path__`` and the like.
        known: the names that there are, or a function that gives them.

    >>> raise missing_attribute("bindax_mine", "sofsign", ["softplus", "softsign"])
    Traceback (most recent call last):
    AttributeError: module 'bindax_mine' has no attribute 'sofsign'. Did you mean 'softsign'?
    """
    advice = ""
    if not name.startswith("_"):
        names = known() if callable(known) else known
        advice = suggestion(name, [one for one in names if not one.startswith("_")])
    text = f"module {module!r} has no attribute {name!r}"
    return AttributeError(f"{text}.{advice}" if advice else text)
