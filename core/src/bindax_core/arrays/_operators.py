"""The operators and methods of arrays and tracers, which plugins supply.

Python looks operators up on the type, so the kernel keeps one class, the base of ``Array`` and
``Tracer``, and a plugin's attributes are set on it. Until a plugin is loaded, each operator stands
as a placeholder that loads the plugins that offer operators, and then calls the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from bindax_core._extension_points import runtime
from bindax_core._tracebacks import hide_internal_frames
from bindax_core.arrays._extended_dtypes import as_extended
from bindax_core.errors import MissingOperationsError, suggestion

if TYPE_CHECKING:
    from bindax_core.arrays._array_interface import ArrayInterface
else:
    ArrayInterface = object

_BINARY = (
    *("add", "and", "divmod", "floordiv", "lshift", "matmul", "mod", "mul", "or", "pow"),
    *("rshift", "sub", "truediv", "xor"),
)
_OTHERS = ("abs", "eq", "ge", "gt", "invert", "iter", "le", "lt", "ne", "neg", "pos", "round")
OPERATOR_NAMES: tuple[str, ...] = (
    *(f"__{name}__" for name in _BINARY),
    *(f"__r{name}__" for name in _BINARY),
    *(f"__{name}__" for name in _OTHERS),
    "__array_namespace__",
    "__getitem__",
)


class ArrayOperators(ArrayInterface):
    """Base of the values that have array operators: ``Array`` and every tracer."""

    __slots__ = ()
    __array_priority__: ClassVar[int] = 1000
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        # Reached only when nothing on the type has the name.
        advice = ""
        # Dunder names are NumPy and others probing for protocols: no plugin supplies one later, and
        # to look for similar names would take most of the time of ``numpy.asarray``.
        if not name.startswith("__"):
            if runtime.plugins.load_for_operations(name) and hasattr(type(self), name):
                return object.__getattribute__(self, name)
            advice = suggestion(name, dir(type(self)))
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}; it is neither built in nor "
            f"supplied by an installed plugin.{advice}"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return self.aval.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The dtype of the elements: NumPy's, or an extended one."""
        dtype = self.aval.dtype
        return dtype if getattr(dtype, "names", None) is None else as_extended(dtype)

    @property
    def weak_type(self) -> bool:
        """True if the dtype came from Python scalars and yields to that of others."""
        return self.aval.weak_type  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size  # type: ignore[no-any-return]


def _placeholder(name: str) -> Callable[..., Any]:
    def operator(self: Any, *args: Any, **options: Any) -> Any:
        if runtime.plugins.load_for_operations(name):
            supplied = getattr(ArrayOperators, name)
            if supplied is not operator:
                try:
                    return supplied(self, *args, **options)
                except Exception as error:
                    hide_internal_frames(error)
                    raise
        raise MissingOperationsError(
            f"no installed plugin supplies the operator {name} of arrays; install "
            f"bindax-lax-basic, or another package that offers array operations."
        )

    operator.__name__ = name
    return operator


_placeholders = {name: _placeholder(name) for name in OPERATOR_NAMES}
for _name, _operator in _placeholders.items():
    setattr(ArrayOperators, _name, _operator)
# `==` is elementwise, so arrays are not hashable, as NumPy's are not.
ArrayOperators.__hash__ = None


supplied_attributes: dict[str, Any] = {}
"""The attributes of arrays that plugins supply."""


def install_array_attributes(attributes: Mapping[str, Any]) -> None:
    """Set operators, methods and properties of arrays and tracers.

    Raises:
        ValueError: when a name is supplied already; nothing is set then.
    """
    for name in attributes:
        present = ArrayOperators.__dict__.get(name)
        if present is not None and present is not _placeholders.get(name):
            raise ValueError(f"the array attribute {name!r} is supplied already.")
    for name, attribute in attributes.items():
        setattr(ArrayOperators, name, attribute)
        supplied_attributes[name] = attribute


def remove_array_attributes(attributes: Mapping[str, Any]) -> None:
    """Undo ``install_array_attributes``."""
    for name, attribute in attributes.items():
        supplied_attributes.pop(name, None)
        if ArrayOperators.__dict__.get(name) is attribute:
            if name in _placeholders:
                setattr(ArrayOperators, name, _placeholders[name])
            else:
                delattr(ArrayOperators, name)
