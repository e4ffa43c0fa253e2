"""The operators and methods of arrays and tracers, which plugins supply.

Python looks operators up on the type, so the kernel keeps one class, the base of ``Array`` and
``Tracer``, and a plugin's attributes are set on it. Until a plugin is loaded, each operator stands
as a placeholder that loads the plugins that offer operators, and then calls the real one.

Plugins supply as well the few operations that interpreters need, such as moving a batch axis,
adding two cotangents and making zeros: interpreters use them without knowing any primitive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from bindax_core._extension_points import runtime
from bindax_core._rollback import on_rollback
from bindax_core._tracebacks import hide_internal_frames
from bindax_core.arrays._extended_dtypes import as_extended
from bindax_core.arrays._shaped_array import ShapedArray
from bindax_core.arrays.sharding._laying import laid_as
from bindax_core.errors import MissingOperationsError, suggestion
from bindax_core.kernel._aval import AbstractValue

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
    "__contains__",
    "__getitem__",
)


class OperatorsType(type):
    """The type of ``Array``: the class has what plugins supply, as its instances have it."""

    def __getattr__(cls, name: str) -> Any:
        if not name.startswith("__"):
            runtime.plugins.load_for_operations(name)
        return super().__getattribute__(name)

    def __dir__(cls) -> Iterable[str]:
        runtime.plugins.load_for_operations("*")
        return super().__dir__()


class ArrayOperators(ArrayInterface):
    """Base of the values that have array operators: ``Array`` and every tracer."""

    __slots__ = ()
    __array_priority__: ClassVar[int] = 1000
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        # Reached only when nothing on the type has the name.
        advice = ""
        # Dunder names are NumPy and others probing for protocols: but for that of rich, no plugin
        # supplies one later, and to look for similar names would take most of the time of
        # ``numpy.asarray``.
        if not name.startswith("__") or name == "__rich__":
            if runtime.plugins.load_for_operations(name) and hasattr(type(self), name):
                return object.__getattribute__(self, name)
            advice = suggestion(name, dir(type(self)))
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}; it is neither built in nor "
            f"supplied by an installed plugin.{advice}"
        )

    def __dir__(self) -> Iterable[str]:
        runtime.plugins.load_for_operations("*")
        return super().__dir__()

    def _require_scalar(self) -> None:
        """Raise unless the array can be one Python number."""
        if self.aval.shape:
            raise TypeError(
                f"Only scalar arrays can be converted to Python scalars, but this one is "
                f"{self.aval.str_short()}. Take one element, as x[0], or all of them by x.tolist()."
            )

    def _require_index(self) -> None:
        """Raise unless the array can be one Python integer."""
        if self.aval.shape or self.aval.dtype.kind not in "iu":
            raise TypeError(
                f"Only integer scalar arrays can be converted to a scalar index, but this one is "
                f"{self.aval.str_short()}, which cannot stand for one integer, such as an index or "
                f"a number of repetitions. A list becomes an array with bindax.numpy.asarray."
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


# -------------------------------------------------------------------- operations of interpreters


class ArrayOperations(NamedTuple):
    """The operations that interpreters need on values of one kind; all of them traceable.

    Attributes:
        zeros: ``(aval) -> x``, the zero of a type.
        ones: ``(aval) -> x``, the one of a type.
        add: ``(x, y) -> x``, the sum of two tangents or cotangents of one type.
        broadcast_axis: ``(x, axis_size, axis) -> x``, repeat along a new axis.
        move_axis: ``(x, source, destination) -> x``.
        index_axis: ``(x, i, axis) -> x``, one slice, the axis removed.
        stack: ``(xs, axis) -> x``, join along a new axis.
        convert: ``(x, dtype, weak_type) -> x``.
    """

    zeros: Callable[[Any], Any]
    ones: Callable[[Any], Any]
    add: Callable[[Any, Any], Any]
    broadcast_axis: Callable[[Any, int, int], Any]
    move_axis: Callable[[Any, int, int], Any]
    index_axis: Callable[[Any, int, int], Any]
    stack: Callable[[Sequence[Any], int], Any]
    convert: Callable[[Any, Any, bool], Any]


_operations: dict[type[AbstractValue], ArrayOperations] = {}


def register_array_operations(
    operations: ArrayOperations, aval_type: type[AbstractValue] = ShapedArray
) -> None:
    """Supply the operations for one kind of abstract value.

    Raises:
        ValueError: when the kind has operations already.
    """
    if _operations.setdefault(aval_type, operations) is not operations:
        raise ValueError(f"array operations for {aval_type.__name__} are registered already.")
    on_rollback(lambda: unregister_array_operations(aval_type))


def unregister_array_operations(aval_type: type[AbstractValue] = ShapedArray) -> None:
    """Undo ``register_array_operations``."""
    _operations.pop(aval_type, None)


def operations_for(aval: AbstractValue) -> ArrayOperations:
    """The operations for values of an abstract value's kind, loading plugins on a first miss."""
    found = _operations.get(type(aval))
    if found is None and runtime.plugins.load_for_operations():
        found = _operations.get(type(aval))
    if found is None:
        raise MissingOperationsError(
            f"no installed plugin supplies array operations for {type(aval).__name__}; install "
            f"bindax-lax-basic, or the package that the values of this type come from."
        )
    return found


def zeros_like_aval(aval: Any) -> Any:
    """The zero of a type, as a value."""
    made = operations_for(aval).zeros(aval.plain())
    return made if getattr(aval, "placement", None) is None else laid_as(made, aval)
