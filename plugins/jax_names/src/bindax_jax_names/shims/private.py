"""Private names of JAX that packages import, where they have a public meaning."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

import bindax
from bindax_core.extend import Array, Dimension, ShapedArray, trace_state
from bindax_jax_names.shims._primitive import Primitive

stop_gradient_p: Final = Primitive("stop_gradient")
"""Stands in tables of rules; programs of bindax have ``stop_gradient`` by another name."""


def trace_state_clean() -> bool:
    """Tell whether nothing is being traced."""
    return len(trace_state.stack) == 1 and trace_state.dynamic is None


def is_constant_dim(size: Any) -> bool:
    """Tell whether a size is a number, and no expression of dimension variables."""
    return not isinstance(size, Dimension)


def is_constant_shape(shape: Sequence[Any]) -> bool:
    """Tell whether all sizes of a shape are numbers."""
    return all(map(is_constant_dim, shape))


def primal_dtype_to_tangent_dtype(dtype: Any) -> Any:
    """The dtype of tangents of arrays of a dtype."""
    return ShapedArray((), dtype).tangent_aval().dtype


def subjaxprs(jaxpr: Any) -> Iterator[Any]:
    """The jaxprs among the parameters of the equations of a jaxpr."""
    return (program.jaxpr for program in jaxpr.programs)


def infer_argnums_and_argnames(
    signature: inspect.Signature, argnums: Any, argnames: Any
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions for names and names for positions."""
    names = list(signature.parameters)
    if argnums is None and argnames is None:
        return (), ()
    if argnums is None:
        words = (argnames,) if isinstance(argnames, str) else tuple(argnames)
        return tuple(names.index(word) for word in words if word in names), words
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if argnames is None:
        return places, tuple(names[i] for i in places if i < len(names))
    return places, (argnames,) if isinstance(argnames, str) else tuple(argnames)


def reconstruct_array(
    make: Callable[..., Any], args: Any, state: Any, aval_state: dict[str, Any]
) -> Any:
    """An array from a pickle of one of JAX's."""
    host = make(*args)
    host.__setstate__(state)
    weak = bool(aval_state.get("weak_type", False))
    return Array.from_numpy(host, ShapedArray(host.shape, host.dtype, weak))


class _Entry:
    """A registered container, taken apart and put together level by level."""

    def to_iter(self, tree: Any) -> tuple[Any, Any]:
        """The children, and what ``from_iter`` makes a container of them by."""
        children, _ = bindax.tree_util.flatten_one_level(tree)
        return children, bindax.tree.structure(tree, is_leaf=lambda node: node is not tree)

    def from_iter(self, structure: Any, children: Any) -> Any:
        """The container of the children."""
        return bindax.tree.unflatten(structure, list(children))


class _Registry:
    """The containers of bindax, as far as packages ask whether a type is one."""

    def __getitem__(self, kind: type) -> _Entry:
        if kind not in self:
            raise KeyError(kind)
        return _Entry()

    def __contains__(self, kind: object) -> bool:
        return isinstance(kind, type) and bindax.tree_util.is_tree_node(kind)


node_registry: Final = _Registry()


excluded_paths: list[str] = []
"""Files that packages hide in tracebacks; here ``register_exclusion`` does it."""


def api_boundary(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The function: frames of packages are hidden by ``register_exclusion``."""
    return function


def compile_program(backend: Any, *args: Any, **kwargs: Any) -> Any:
    """Refuse: a program is compiled by ``jax.jit``.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("bindax compiles with jax.jit(f).lower(*args).compile().")


class ExtendedDType:
    """Base of dtypes that packages define; arrays of them cannot be made here."""


def supports_inf(dtype: Any) -> bool:
    """Tell whether a dtype has infinities."""
    return bool(np.isinf(np.asarray(np.inf, dtype).astype(np.float32)))


def include_frame(frame: Any) -> bool:
    """Tell whether a frame is of the user's program, and not of bindax or of a hidden package."""
    name = frame.f_code.co_filename
    return not any(word in name for word in ("bindax", *excluded_paths))


started_backends: dict[str, Any] = {}
"""Clients of JAX, of which none is started here."""


class JaxException(Exception):
    """The type that annotates kinds of checks, which are values in bindax."""


class TypedInt(int):
    """The type of Python's numbers with a dtype, of which bindax makes none."""


class TypedFloat(float):
    """The same, of floats."""


class TypedComplex(complex):
    """The same, of complex numbers."""


class DistributedState:
    """The knowledge of a process about others that compute with it.

    Attributes:
        client: the connection to them; None where there are none.
    """

    client: Any = None
    service: Any = None
    coordinator_address: str | None = None
    partition_index: int | None = None
    preemption_sync_manager: Any = None

    @property
    def process_id(self) -> int:
        """The index of this process."""
        return bindax.process_index()

    @property
    def num_processes(self) -> int:
        """The number of processes."""
        return bindax.process_count()


global_state: Final = DistributedState()


def promote_dtypes(*operands: Any) -> list[Any]:
    """Operands as arrays of the dtype that they promote to together."""
    return _promoted(operands, bindax.numpy.result_type(*operands))


promote_dtypes_numeric = promote_dtypes


def promote_dtypes_inexact(*operands: Any) -> list[Any]:
    """The same, of floats where they are integers."""
    return _promoted(operands, _inexact(bindax.numpy.result_type(*operands)))


def promote_dtypes_complex(*operands: Any) -> list[Any]:
    """The same, of complex numbers."""
    dtype = _inexact(bindax.numpy.result_type(*operands))
    return _promoted(operands, bindax.numpy.result_type(dtype, np.complex64))


def to_numeric_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype of numbers for a dtype: integers for bool."""
    given: np.dtype[Any] = np.dtype(dtype)
    return np.dtype(np.int32) if given.kind == "b" else given


def to_inexact_dtype(dtype: Any) -> np.dtype[Any]:
    """The inexact dtype for a dtype, with 64 bits for integers that have them."""
    given: np.dtype[Any] = np.dtype(dtype)
    if bindax.numpy.issubdtype(given, bindax.numpy.inexact):
        return given
    return np.dtype(np.float64 if given.itemsize == 8 else np.float32)


def to_floating_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype of real numbers for a dtype."""
    real: np.dtype[Any] = np.dtype(bindax.dtypes.finfo(to_inexact_dtype(dtype)).dtype)
    return real


def to_complex_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype of complex numbers for a dtype."""
    is_wide = to_floating_dtype(dtype) == np.float64
    return np.dtype(np.complex128 if is_wide else np.complex64)


def _inexact(dtype: Any) -> Any:
    is_inexact = bindax.numpy.issubdtype(dtype, bindax.numpy.inexact)
    return dtype if is_inexact else bindax.dtypes.canonicalize_dtype(float)


def _promoted(operands: Any, dtype: Any) -> list[Any]:
    return [bindax.lax.convert_element_type(x, dtype) for x in operands]
