"""Variables: the cells of modules that hold arrays, with metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from bindax_core.errors import UnexpectedTracerError, clause
from bindax_core.extend import Array, NodeDefinition, ShapedArray, Tracer
from bindax_core.tree_util import GetAttrKey, register_node
from bindax_nnx._counted import Counted
from bindax_nnx._metadata import HasMetadata, checked_pairs, current_names
from bindax_nnx._metadata import VariableMetadata as VariableMetadata
from bindax_nnx._mutation_counter import current_trace, describe_trace, mutation_counter
from bindax_nnx._operators import VariableOperators
from bindax_nnx._paths import Place, full_name
from bindax_nnx._tokens import VariableToken, serialized_name, variable_token
from bindax_nnx.eager_sharding import divided, is_divided, sharding_of, using_eager_sharding
from bindax_nnx.errors import TraceContextError
from bindax_nnx.reference_variables import add_defaults, loaded, settled
from bindax_text import Parts
from bindax_transforms.extend import Reference

A = TypeVar("A")
V = TypeVar("V", bound="Variable[Any]")

PARTITION_NAME = "partition_name"
"""The entry of ``transform_metadata`` that names the axis which a transformation adds."""
_HOOKS = ("on_add_axis", "on_create_value", "on_get_value", "on_remove_axis", "on_set_value")


class Variable(Counted, HasMetadata, VariableOperators, Generic[A]):
    """A cell that holds an array, or a tree of arrays, and metadata.

    It has the operators, attributes and methods of its value. Subclasses are the kinds of state
    that filters tell apart.

    Args:
        value: an array, a tree of arrays, another variable, or a ``VariableMetadata``.
        metadata: hashable values by name, which are attributes. The names ``on_get_value``,
            ``on_set_value``, ``on_create_value`` ``(variable, value) -> value``, and
            ``on_add_axis``, ``on_remove_axis`` ``(variable, index, name)`` are hooks; subclasses
            may define them as methods. ``out_sharding``, a ``PartitionSpec``, a tuple of names of
            mesh axes, or a ``Sharding``, divides the value over the devices of ``mesh`` or of the
            mesh that is set, unless ``eager_sharding`` is False; ``sharding_rules`` translate its
            names. ``sharding`` and ``sharding_names`` are older names of it; the names that
            ``sharding`` gives are kept where there is no mesh. ``ref=True`` keeps the value in a
            mutable array, so that what any transformed function writes stays.

    Raises:
        TypeError: a metadata name is an attribute's, or a mutable array is to hold no array.
        ValueError: there is ``out_sharding``, and no mesh.

    >>> import numpy as np
    >>> kernel = Param(np.ones(2, np.float32), role="scale")
    >>> kernel * 2
    array([2., 2.], dtype=float32)
    >>> kernel.shape, kernel.role
    ((2,), 'scale')
    """

    __slots__ = ("__weakref__", "_context", "_metadata", "_nnx_place", "_token", "_value")

    _value: Any
    _context: Any
    _metadata: dict[str, Any]
    _nnx_place: Place | None
    _token: VariableToken | None

    on_get_value: ClassVar[Callable[..., Any] | None] = None
    on_set_value: ClassVar[Callable[..., Any] | None] = None
    on_create_value: ClassVar[Callable[..., Any] | None] = None
    on_add_axis: ClassVar[Callable[..., Any] | None] = None
    on_remove_axis: ClassVar[Callable[..., Any] | None] = None

    def __init__(self, value: A | Variable[A] | VariableMetadata, **metadata: Any) -> None:
        for name in metadata:
            if hasattr(Variable, name) and name not in _HOOKS:
                raise TypeError(
                    f"{type(self).__name__} cannot have metadata of the name {name!r}, which is "
                    f"an attribute of every variable; choose another name."
                )
        if isinstance(value, VariableMetadata):
            metadata = {**value.metadata, **metadata}
            value = value.raw_value
        elif isinstance(value, Variable):
            metadata = {**value._metadata, **metadata}
            value = loaded(value._value)
        _fill(self, value, metadata)
        add_defaults(self._metadata, value)
        if "sharding" in metadata and sharding_of(self._metadata) is None:
            self._metadata.setdefault("eager_sharding", False)  # the older name asks for no mesh
        hook = self._hook("on_create_value")
        if hook is not None:
            _set(self, "_value", hook(value))
        if self._metadata:
            self._divide()
            kind = type(self).__name__
            _set(self, "_value", settled(kind, self._value, self._metadata))

    def _divide(self) -> None:
        """Lay a new value out as the metadata say, unless ``eager_sharding`` is off."""
        metadata = self._metadata
        if metadata.get("out_sharding"):
            if metadata.get("eager_sharding", using_eager_sharding()):
                _set(self, "_value", divided(type(self).__name__, self._value, metadata))
            else:
                metadata["eager_sharding"] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "get_value" in vars(cls) or "set_value" in vars(cls):
            # Operators, items and layers read and write through the methods, too.
            kind: Any = cls
            kind.value = property(lambda x: x.get_value(), lambda x, new: x.set_value(new))
        _register(cls)

    def _read(self) -> Any:
        """The content of the variable."""
        value = self._value
        if isinstance(value, Tracer) and not value._trace.main.alive:
            self._require_live(value)
        if not self._metadata and type(self).on_get_value is None:
            return value  # as most variables are, for the speed of tracing
        if isinstance(value, Reference):
            value = value.load()
        return value if (hook := self._hook("on_get_value")) is None else hook(value)

    def _write(self, value: Any) -> None:
        self._require_context()
        if isinstance(value, Variable):
            value = loaded(value._value)
        self._require_live(value)
        if (hook := self._hook("on_set_value")) is not None:
            value = hook(value)
        if type(value) is not Array and not isinstance(value, Tracer):
            mutation_counter.advance_variables()  # it may be a tree, which is structure
        if self._metadata:
            store_value(self, value)
        else:
            _set(self, "_value", value)

    value: Any = property(_read, _write)

    @property
    def raw_value(self) -> Any:
        """The content of the variable, without the hooks."""
        return loaded(self._value)

    @property
    def var_type(self) -> type:
        """The kind of variable."""
        return type(self)

    type: Any = var_type

    def get_value(self, *, index: Any = None) -> Any:
        """The content of the variable, or a part of it; subclasses may define it anew."""
        return self._read() if index is None else self._read()[index]

    def set_value(self, value: Any, *, index: Any = None) -> None:
        """Replace what the variable holds, or a part of it; subclasses may define it anew."""
        if isinstance(value, Variable):
            value = value.value
        self._write(value if index is None else self._read().at[index].set(value))

    def get_raw_value(self) -> Any:
        """The content of the variable, without the hooks, or the mutable array that holds it."""
        return self._value

    def set_raw_value(self, value: Any) -> None:
        """Replace what the variable holds, without the hooks."""
        self._require_context()
        self._require_live(value)
        mutation_counter.advance_variables()
        _set(self, "_value", settled(type(self).__name__, value, self._metadata))

    def create_value(self, value: Any) -> Any:
        """The content that the variable would have if it were made with a value, after the hook."""
        hook = self._hook("on_create_value")
        return value if hook is None else hook(value)

    @classmethod
    def from_metadata(cls, value: Any, metadata: Mapping[str, Any]) -> Any:
        """A variable with a value and metadata, without conversions and hooks."""
        return make_variable(cls, value, metadata)

    def copy_from(self, other: Variable[Any]) -> None:
        """Take over the value and the metadata of a variable of the same kind.

        Raises:
            ValueError: it is of another kind.
        """
        if type(other) is not type(self):
            raise ValueError(
                f"Cannot copy from incompatible container: {self._describe()} is a "
                f"{type(self).__name__}, but copy_from got a {type(other).__name__}."
            )
        self.update_from_state(other)

    def update_from_state(self, variable_state: Variable[Any]) -> None:
        """Take over the value and the metadata of another variable."""
        self.set_raw_value(loaded(variable_state._value))
        if self.token != variable_state.token:
            self._change_metadata(dict(variable_state._metadata))

    def replace(self: V, value: Any, **metadata: Any) -> V:
        """A variable of the same kind with another value, its metadata changed where named."""
        if isinstance(value, Variable):
            value = loaded(value._value)
        return make_variable(type(self), value, {**self._metadata, **metadata})

    def copy(self: V, **metadata: Any) -> V:
        """A variable of the same kind, value and metadata, which are changed where named."""
        return self.replace(self, **metadata)

    to_state = copy

    def _describe(self) -> str:
        return f"the {type(self).__name__}" if self._nnx_place is None else full_name(self)

    def _require_context(self) -> None:
        now = current_trace()
        if self._context is not now and not isinstance(self._value, Reference):
            raise TraceContextError(
                f"{self._describe()} was changed {describe_trace(now)}, but belongs to a variable "
                f"made {describe_trace(self._context)}: a traced value would stay in it after the "
                f"trace has ended. Pass the module that holds it as an argument of the transformed "
                f"function instead of using it from the enclosing scope."
            )

    def _require_live(self, value: Any) -> None:
        """Raise where a value that the variable holds, or is to hold, is of a trace that ended."""
        if isinstance(value, Tracer) and not value._trace.main.alive:
            raise UnexpectedTracerError(
                f"{self._describe()} holds a traced value {value.aval.str_short()}, made in "
                f"{value._trace.main.origin}, which escaped from it and is used after it ended. "
                f"Return the module or its values from the function instead of keeping them in a "
                f"variable, attribute or container outside."
            )

    @property
    def token(self) -> VariableToken:
        """Kind and metadata as one hashable value.

        Raises:
            TypeError: metadata cannot be hashed.
        """
        token = self._token
        if token is None:
            token = self._make_token()
            _set(self, "_token", token)
        return token

    def _make_token(self) -> VariableToken:
        try:
            return variable_token(type(self), tuple(sorted(self._metadata.items())))
        except TypeError as error:
            raise TypeError(
                f"the metadata of {self._describe()} must be hashable, but they are "
                f"{self._metadata!r}: {clause(error)}."
            ) from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        metadata = object.__getattribute__(self, "_metadata")
        if name in metadata:
            return metadata[name]
        if "out_sharding" in metadata and (
            name == "sharding_names" or (name == "sharding" and not is_divided(self._value))
        ):
            return metadata["out_sharding"]
        if name == "ref" or name == "hijax":
            return False
        try:
            return getattr(self.value, name)
        except AttributeError as error:
            reason = f"nor has its value such an attribute: {error}"
            if name == "sharding" and not isinstance(self._value, Array):
                aval = getattr(self._value, "aval", None)
                shown = type(self._value).__name__ if aval is None else f"traced {aval.str_short()}"
                reason = (
                    f"and its value, a {shown}, lies on no device. Look at it outside of the "
                    f"traced function, or at the metadata `out_sharding`, which say how the "
                    f"variable was divided."
                )
            raise AttributeError(f"{self._describe()} has no metadata {name!r}, {reason}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name):
            _set(self, name, value)
        else:
            self.set_metadata(**{name: value})

    def __delattr__(self, name: str) -> None:
        if name not in self._metadata:
            raise AttributeError(f"{self._describe()} has no metadata {name!r}.")
        self._change_metadata({k: v for k, v in self._metadata.items() if k != name})

    def __getitem__(self, index: Any) -> Any:
        return self.value if index is Ellipsis else self.value[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is Ellipsis:
            self.value = value
        else:
            self.set_value(value, index=index)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call what the variable holds."""
        return self.value(*args, **kwargs)

    def __bindax_parts__(self) -> Parts:
        shown = [("value=", self._value), *((f"{k}=", v) for k, v in self._metadata.items())]
        return Parts(f"{type(self).__name__}(", shown, ")")

    def __copy__(self: V) -> V:
        return self.copy()

    def __deepcopy__(self: V, memo: dict[int, Any]) -> V:
        return self.copy()

    def __reduce__(self) -> Any:
        return make_variable, (type(self), loaded(self._value), self._metadata)


_set = object.__setattr__
# The setters of the slots: tracing a function of a large model restores many variables.
_slots: Any = vars(Variable)
_set_value, _set_metadata, _set_context, _set_place, _set_token = (
    _slots[name].__set__ for name in ("_value", "_metadata", "_context", "_nnx_place", "_token")
)


def _fill(variable: Variable[Any], value: Any, metadata: Mapping[str, Any]) -> None:
    _set(variable, "_value", value)
    _set(variable, "_metadata", current_names(metadata) if metadata else {})
    _set(variable, "_context", current_trace())
    _set(variable, "_nnx_place", None)
    _set(variable, "_token", None)


def make_variable(kind: type[V], value: Any, metadata: Mapping[str, Any]) -> V:
    """A variable of a kind, without conversions and hooks."""
    variable = object.__new__(kind)
    _fill(variable, settled(kind.__name__, value, metadata), metadata)
    return variable


def restore_variable(
    token: VariableToken, value: Any, context: Any, place: Place | None = None
) -> Variable[Any]:
    """A variable from its token and value; ``place`` is the attribute that holds it."""
    variable: Variable[Any] = object.__new__(token.type)
    if token.holds_reference:
        value = settled(token.type.__name__, value, token.by_name)
    _set_value(variable, value)
    _set_metadata(variable, token.by_name)
    _set_context(variable, context)
    _set_place(variable, place)
    _set_token(variable, token)
    return variable


def store_value(variable: Any, value: Any) -> None:
    """Put a result of a transformation in a variable, or in its mutable array, without hooks."""
    in_array = isinstance(variable._value, Reference) and not isinstance(value, ShapedArray)
    if in_array:
        variable._value[...] = value
    else:
        _set(variable, "_value", value)


def store_metadata(variable: Variable[Any], token: VariableToken) -> None:
    """Give a variable the metadata that it has after a transformation."""
    _set(variable, "_metadata", token.by_name)
    _set(variable, "_token", token)
    mutation_counter.advance_variables()


# ------------------------------------------------------------------------- variables as pytrees


def _register(cls: type[Variable[Any]]) -> None:
    """Make instances of a class pytree nodes around their value."""
    register_node(
        NodeDefinition(
            cls,
            lambda variable: ((variable._value,), variable.token),
            lambda token, children: restore_variable(token, children[0], current_trace()),
            lambda variable: (((GetAttrKey("value"), variable._value),), variable.token),
            serialized_name=serialized_name(cls),
            encode_metadata=lambda token: token.metadata,
            decode_metadata=lambda pairs: variable_token(cls, checked_pairs(pairs)),
        )
    )


_register(Variable)


class Param(Variable[A]):
    """A parameter that training changes."""

    __slots__ = ()


class BatchStat(Variable[A]):
    """A statistic of the batches seen so far, such as the mean that ``BatchNorm`` keeps."""

    __slots__ = ()


class Cache(Variable[A]):
    """State that a layer keeps from step to step while it decodes.

    >>> from bindax_nnx import Module, state
    >>> class Decoder(Module):
    ...     def __init__(self):
    ...         self.keys = Cache([0.0, 0.0])
    >>> list(state(Decoder(), Cache))
    ['keys']
    """

    __slots__ = ()


class Intermediate(Variable[A]):
    """A value recorded by ``sow``."""

    __slots__ = ()


class Perturbation(Intermediate[A]):
    """A zero that ``perturb`` adds to a value, so that the gradient at the value is that at it."""

    __slots__ = ()
