"""The type of references, and references to a part of another one."""

from __future__ import annotations

from typing import Any, Self

from bindax_core.extend import Tracer, as_array, operations_for, typeof
from bindax_lax_basic import stop_gradient
from bindax_transforms.extend import Reference


class Ref(Reference):
    """A mutable array: a reference whose elements are read and written by index.

    ``ref[...]`` is its value, ``ref[i]`` a part of it; ``ref[...] = x`` and ``ref[i] += x`` change
    it. Its shape and dtype stay. Made by ``new_ref``.

    Raises:
        ValueError: when what is written has another dtype or does not fit the shape, when the
            reference was freed, or when a value with a batch axis or a derivative is written to a
            reference from outside of that transformation.

    >>> import numpy as np
    >>> from bindax_refs import new_ref
    >>> ref = new_ref(np.zeros((2, 2)))
    >>> ref[0] = 1.0
    >>> ref[:, 1] += 2.0
    >>> ref[...]
    Array([[1., 3.],
           [0., 2.]], dtype=float64)
    >>> isinstance(ref, Ref), ref.shape, ref.dtype
    (True, (2, 2), dtype('float64'))
    """

    @property
    def sharding(self) -> Any:
        """Where the parts of its value lie."""
        return self.load().sharding

    @property
    def at(self) -> _Parts:
        """References to its parts: ``ref.at[i]`` reads and writes ``ref[i]``.

        >>> from bindax_refs import new_ref
        >>> ref = new_ref([1.0, 2.0, 3.0])
        >>> tail = ref.at[1:]
        >>> tail[0] = 7.0
        >>> ref
        Ref([1., 7., 3.], dtype=float64)
        """
        return _Parts(self)

    def get(self, index: Any = ...) -> Any:
        """Return the elements at an index; without one, all."""
        return self[index]

    def set(self, value: Any, index: Any = ...) -> None:
        """Write to the elements at an index; without one, to all."""
        self[index] = value

    def swap(self, value: Any, index: Any = ...) -> Any:
        """Write to the elements at an index, and return what they were before."""
        before = self[index]
        self[index] = value
        return before

    def addupdate(self, value: Any, index: Any = ...) -> None:
        """Add to the elements at an index; one that is there several times gets all summands."""
        current = self.load()
        self.store(current.at[index].add(_converted(value, self.aval)))

    def element(self, index: Any) -> Ref:
        """A reference to the elements at an index."""
        return _Part(self, index)

    def __getitem__(self, index: Any) -> Any:
        value = self.load()
        return value if index is Ellipsis else value[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        value = _converted(value, self.aval)
        current = self.load()
        if index is Ellipsis and typeof(value).shape == self.shape:
            self.store(value)
            return
        try:
            changed = current.at[index].set(value)
        except (TypeError, ValueError) as error:
            where = "..." if index is Ellipsis else repr(index)
            raise ValueError(
                f"a value of type {typeof(value).str_short()} was written to ref[{where}] of a "
                f"mutable array reference of type {self.aval.str_short()}: {error}"
            ) from None
        self.store(changed)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a mutable array reference without axes: it is one number.")
        return self.shape[0]

    def __iter__(self) -> Any:
        raise TypeError("a mutable array reference is not iterated over: read it with ref[...].")

    def __bool__(self) -> bool:
        raise TypeError("the truth of a mutable array reference: read its value with ref[...].")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a mutable array reference is no array: read its value with ref[...].")

    def __repr__(self) -> str:
        if self._ended:
            return f"Ref({self.aval.str_short()}, {self._ended})"
        value = self._value
        if isinstance(value, Tracer):
            return f"Ref({self.aval.str_short()})"
        return f"Ref{repr(value)[len(type(value).__name__) :]}"


class NoGradRef(Ref):
    """A reference that keeps no derivatives: values are written without."""

    def store(self, value: Any) -> None:
        """Replace the value that it holds, by one without derivatives."""
        super().store(stop_gradient(value))


class _Part(Ref):
    """The elements of a reference at an index."""

    def __init__(self, whole: Ref, index: Any) -> None:
        self._whole, self._index = whole, index
        super().__init__(self.load())
        self._value = None

    def load(self) -> Any:
        return self._whole[self._index]

    def store(self, value: Any) -> None:
        self._whole[self._index] = value

    def end(self, why: str) -> Any:
        raise ValueError(
            f"a part of a mutable array reference was {why}, ref.at[...]: it belongs to the "
            f"reference; free or freeze that."
        )

    @property
    def kind(self) -> type[Reference]:
        return self._whole.kind

    @classmethod
    def stand_in(cls, value: Any) -> Self:
        raise TypeError("a part of a reference is represented by one of the kind of the whole.")

    def __repr__(self) -> str:
        return f"Ref({self.aval.str_short()}, a part of {self._whole!r})"


class _Parts:
    """The value of ``ref.at``, which gives references to parts."""

    def __init__(self, whole: Ref) -> None:
        self._whole = whole

    def __getitem__(self, index: Any) -> Ref:
        return _Part(self._whole, index)


def _converted(value: Any, aval: Any) -> Any:
    """A value of the dtype of a reference; numbers take it if they can."""
    given = typeof(value)
    if given.dtype == aval.dtype:
        return value if isinstance(value, Tracer) else as_array(value)
    ranks = "biufcV"
    kinds = [ranks.find("i" if x.dtype.kind == "u" else x.dtype.kind) for x in (given, aval)]
    floats = kinds[1] >= ranks.index("f")
    if given.weak_type and (kinds[0] <= kinds[1] or (floats and given.dtype.kind == "f")):
        return operations_for(aval).convert(value, aval.dtype, False)
    raise ValueError(
        f"a value of type {given.str_short()} was written to a mutable array reference of type "
        f"{aval.str_short()}. Convert it with .astype('{aval.dtype.name}'), or make the reference "
        f"with that dtype."
    )
