"""The dtypes by name, what they can hold and promote to, and the constants.

Kinds of dtypes are asked for with the abstract ones, as in NumPy:

>>> jnp.issubdtype(jnp.float32, jnp.floating), jnp.issubdtype(jnp.int8, jnp.signedinteger)
(True, True)
>>> kinds = jnp.generic, jnp.number, jnp.inexact, jnp.complexfloating, jnp.unsignedinteger
>>> [jnp.issubdtype(jnp.complex64, kind) for kind in kinds]
[True, True, True, True, False]

The constants are numbers, and ``newaxis`` stands for a new axis in an index:

>>> f"{jnp.euler_gamma:.2f}", jnp.zeros(3)[jnp.newaxis].shape
('0.58', (1, 3))

Complex numbers that are cast to real ones warn with ``ComplexWarning``, as in NumPy.
NumPy's ``flexible``, ``character`` and ``object_`` are there as names, and are no dtypes of arrays:

>>> import numpy as np
>>> (jnp.flexible, jnp.character, jnp.object_) == (np.flexible, np.character, np.object_)
True
>>> jnp.ComplexWarning is np.exceptions.ComplexWarning
True

The names without a width stand for the default dtype of their kind:

>>> jnp.int_(1).dtype.name, jnp.uint(1).dtype.name, jnp.float_(1).dtype.name
('int32', 'uint32', 'float32')
>>> jnp.complex_(1).dtype.name
'complex64'
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np

from bindax_core.extend import (
    AnyArray,
    Array,
    as_extended,
    config,
    extended,
    is_extended,
    is_value,
    typeof,
)
from bindax_lax_basic import dtypes as lax_dtypes
from bindax_lax_basic.extend import axes_argument, bits_of, default_dtype, named_dtype
from bindax_lax_basic.extend import promote_types as promote_types
from bindax_lax_basic.extend import result_type as result_type
from bindax_numpy._operands import require_values
from bindax_numpy.creation import array

pi: Final = math.pi
e: Final = math.e
euler_gamma: Final = 0.5772156649015329
inf: Final = math.inf
nan: Final = math.nan
newaxis: Final = None


if TYPE_CHECKING:
    ndarray = Array
else:
    ndarray = AnyArray
"""The type of arrays under the name that it has in NumPy; traced ones are instances, too."""


class ScalarType(type):
    """The type of ``float32`` and the others: a dtype that makes an array when it is called.

    Each stands wherever a dtype is asked for, and equals the NumPy dtype it stands for.

    >>> jnp.float32(1.5), jnp.zeros(1, jnp.int8).dtype == jnp.int8
    (Array(1.5, dtype=float32), True)
    """

    _name: str

    @property
    def dtype(cls) -> np.dtype[Any]:
        """The NumPy dtype that it stands for."""
        return named_dtype(cls._name)

    def __call__(cls, x: Any = 0) -> Array:
        """An array of a value, in this dtype."""
        return array(x, cls.dtype)

    def __eq__(cls, other: object) -> bool:
        if isinstance(other, ScalarType):
            return cls.dtype == other.dtype
        if isinstance(other, np.dtype):
            return cls.dtype == other
        return isinstance(other, type) and other is cls.dtype.type

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)  # as NumPy's class, so that either is found in a set

    def __repr__(cls) -> str:
        return f"<dtype {cls.__name__} of bindax.numpy>"


class DefaultScalarType(ScalarType):
    """A scalar type of the width that ``config.dtype_bits`` says at the moment."""

    @property
    def dtype(cls) -> np.dtype[Any]:
        """The NumPy dtype that it stands for now."""
        if cls._name == "uint":
            return named_dtype(f"uint{config.dtype_bits}")
        return default_dtype(cls._name)


def _scalar_type(name: str, public: str | None = None) -> ScalarType:
    namespace = {"_name": name, "__module__": __name__, "__doc__": f"The dtype {name}."}
    return ScalarType(public or name, (), namespace)


def _default_type(family: str, public: str | None = None) -> ScalarType:
    text = f"The default dtype of the family {family}."
    namespace = {"_name": family, "__module__": __name__, "__doc__": text}
    return DefaultScalarType(public or f"{family}_", (), namespace)


bool_: ScalarType = _scalar_type("bool", "bool_")
int4: ScalarType = _scalar_type("int4")
int8: ScalarType = _scalar_type("int8")
int16: ScalarType = _scalar_type("int16")
int32: ScalarType = _scalar_type("int32")
int64: ScalarType = _scalar_type("int64")
uint4: ScalarType = _scalar_type("uint4")
uint8: ScalarType = _scalar_type("uint8")
uint16: ScalarType = _scalar_type("uint16")
uint32: ScalarType = _scalar_type("uint32")
uint64: ScalarType = _scalar_type("uint64")
int2: ScalarType = _scalar_type("int2")
uint2: ScalarType = _scalar_type("uint2")
float4_e2m1fn: ScalarType = _scalar_type("float4_e2m1fn")
float8_e3m4: ScalarType = _scalar_type("float8_e3m4")
float8_e4m3: ScalarType = _scalar_type("float8_e4m3")
float8_e4m3b11fnuz: ScalarType = _scalar_type("float8_e4m3b11fnuz")
float8_e4m3fnuz: ScalarType = _scalar_type("float8_e4m3fnuz")
float8_e5m2fnuz: ScalarType = _scalar_type("float8_e5m2fnuz")
float8_e8m0fnu: ScalarType = _scalar_type("float8_e8m0fnu")
float8_e4m3fn: ScalarType = _scalar_type("float8_e4m3fn")
float8_e5m2: ScalarType = _scalar_type("float8_e5m2")
bfloat16: ScalarType = _scalar_type("bfloat16")
float16: ScalarType = _scalar_type("float16")
float32: ScalarType = _scalar_type("float32")
float64: ScalarType = _scalar_type("float64")
complex64: ScalarType = _scalar_type("complex64")
complex128: ScalarType = _scalar_type("complex128")
single: ScalarType = float32
double: ScalarType = float64
csingle: ScalarType = complex64
cdouble: ScalarType = complex128
int_: ScalarType = _default_type("int")
float_: ScalarType = _default_type("float")
complex_: ScalarType = _default_type("complex")

uint: ScalarType = _default_type("uint", "uint")
generic = np.generic
character = np.character
flexible = np.flexible
object_ = np.object_
number = np.number
integer = np.integer
signedinteger = np.signedinteger
unsignedinteger = np.unsignedinteger
inexact = np.inexact
floating = np.floating
complexfloating = np.complexfloating

_ABSTRACT: Final[dict[str, Any]] = {
    "bool": np.bool_,
    "signed integer": np.signedinteger,
    "unsigned integer": np.unsignedinteger,
    "float": np.floating,
    "complex": np.complexfloating,
}


class _DTypeClass(type):
    """Makes the class below answer for the dtypes of NumPy, which it does not derive."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, np.dtype)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, np.dtype)


class dtype(metaclass=_DTypeClass):
    """The NumPy dtype that something names; Python's types name the default dtypes, None a float.

    Every dtype is an instance of it.

    >>> jnp.dtype(float), jnp.dtype("bfloat16")
    (dtype('float32'), dtype(bfloat16))
    >>> isinstance(jnp.zeros(1).dtype, jnp.dtype | None)
    True
    """

    def __new__(cls, obj: Any = float, align: bool = False, copy: bool = False) -> Any:
        """The dtype; other arguments are accepted for compatibility."""
        return named_dtype(float if obj is None else obj)


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Tell whether a dtype is another one, or belongs to an abstract one such as ``floating``.

    Args:
        arg1: a dtype, or what names one; None is the default float.
        arg2: a dtype, or an abstract type: generic, number, integer, signedinteger,
            unsignedinteger, inexact, floating or complexfloating.

    >>> jnp.issubdtype(jnp.bfloat16, jnp.floating), jnp.issubdtype(jnp.int32, jnp.inexact)
    (True, False)
    """
    arg1 = float if arg1 is None else arg1
    if not _is_abstract(arg2):
        if _is_abstract(arg1):
            return False
        return named_dtype(arg1) == named_dtype(arg2)
    if _is_abstract(arg1):
        return issubclass(arg1, arg2)
    found = named_dtype(arg1)
    if is_extended(found):
        return issubclass(as_extended(found).type, arg2)
    return issubclass(_ABSTRACT.get(lax_dtypes.kind_of(found), found.type), arg2)


def _is_abstract(x: Any) -> bool:
    # NumPy's abstract types are those that other scalar types of NumPy are made from.
    if not isinstance(x, type) or not issubclass(x, np.generic):
        return False
    return x in _ABSTRACT_TYPES or issubclass(x, extended)


_ABSTRACT_TYPES: Final = frozenset(
    {generic, number, integer, signedinteger, unsignedinteger, inexact, floating, complexfloating}
)


def finfo(dtype: Any) -> Any:
    """The limits of a float dtype: ``max``, ``min``, ``eps``, ``tiny``, ``bits`` and others.

    Args:
        dtype: the dtype, or what names it; of a complex one, the limits of its parts.

    >>> jnp.finfo(jnp.bfloat16).bits, float(jnp.finfo(jnp.float32).eps)
    (16, 1.1920928955078125e-07)
    """
    return ml_dtypes.finfo(named_dtype(dtype))  # type: ignore[no-untyped-call]


def iinfo(dtype: Any) -> Any:
    """The limits of an integer dtype: ``max``, ``min`` and ``bits``.

    Args:
        dtype: the dtype, or what names it.

    >>> jnp.iinfo(jnp.int8).max
    127
    """
    return ml_dtypes.iinfo(named_dtype(dtype))  # type: ignore[no-untyped-call]


def itemsize_bits(dtype: Any) -> int:
    """The number of bits of one element: 8 for booleans, fewer than 8 for narrow numbers.

    Args:
        dtype: the dtype, or what names it.

    >>> itemsize_bits(jnp.int4), itemsize_bits("bfloat16")
    (4, 16)
    """
    return bits_of(named_dtype(dtype))


def scalar_type_of(x: Any) -> type:
    """The type of Python's numbers that the elements of an array are like.

    Args:
        x: an array or a number.

    Raises:
        TypeError: when it is neither.

    >>> scalar_type_of(jnp.ones(2, jnp.bfloat16)), scalar_type_of(True)
    (<class 'float'>, <class 'bool'>)
    """
    kind = lax_dtypes.kind_of(_described("scalar_type_of", x).dtype)
    return {"bool": bool, "float": float, "complex": complex}.get(kind, int)


def shape(a: Any) -> tuple[int, ...]:
    """The sizes of the axes of an array.

    >>> jnp.shape(jnp.zeros((2, 3)))
    (2, 3)
    """
    return _described("shape", a).shape


def ndim(a: Any) -> int:
    """The number of axes of an array.

    >>> jnp.ndim(1.0)
    0
    """
    return len(_described("ndim", a).shape)


def size(a: Any, axis: Any = None) -> int:
    """The number of elements of an array, or along an axis or several.

    >>> jnp.size(jnp.zeros((2, 3))), jnp.size(jnp.zeros((2, 3)), 1)
    (6, 3)
    """
    sizes = tuple(_described("size", a).shape)
    axes = axes_argument("size", axis, len(sizes), "axis")
    return math.prod(sizes[i] for i in axes)


def _described(name: str, a: Any) -> Any:
    """Return something with the shape of an operand, which may be a list or a type of arrays."""
    if (a is None or isinstance(a, np.ndarray)) and name != "scalar_type_of":
        return np.asarray(a)  # of numbers or not
    if is_value(a):
        return typeof(a)
    if hasattr(a, "shape") and hasattr(a, "dtype"):
        return a
    if not isinstance(a, (list, tuple)):
        require_values(name, a)
    return typeof(array(a))
