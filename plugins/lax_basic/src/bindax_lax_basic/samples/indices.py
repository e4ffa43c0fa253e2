"""Sample indices ``x[...]`` of one array, of every kind that NumPy and JAX both understand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

INDEXED: Array = np.arange(120.0).reshape(4, 5, 2, 3) / 7 + 0.5
_I = np.array([0, 3, -1])
_J = np.array([1, -4, 2])
_B = np.array([[1, 0, 1], [0, 1, 1]])
_ROWS = np.array([True, False, True, True])
_PLANE = (np.arange(20) % 3 == 0).reshape(4, 5)

INDICES: Mapping[str, Any] = {
    "array": _I,
    "plane of positions": _B,
    "array and slice": (_I, slice(1, 4)),
    "slice and array": (slice(None), _J, slice(None, None, -1)),
    "adjacent arrays": (_I, _J),
    "adjacent arrays behind": (slice(None), _J, _B[0]),
    "arrays apart": (_I, slice(None), _B[0]),
    "arrays around None": (slice(None), _J, None, _B[0]),
    "arrays around Ellipsis": (_I, Ellipsis, _B[0]),
    "arrays around an empty Ellipsis": (slice(None), _J, Ellipsis, _B[0], slice(None)),
    "array and integer": (slice(None), _J, 1),
    "integer apart from array": (0, slice(None), _B[0]),
    "broadcast arrays": (_I[:, None], _J[None]),
    "broadcast sizes of one": (_I[:, None], _J[:1]),
    "new axes": (None, _I, None, slice(1, 3), Ellipsis, None),
    "slices with steps": (slice(None, None, 2), _I, slice(None), slice(None, None, -2)),
    "reversed box": (slice(3, 0, -1), slice(4, 1, -1), 0),
    "reversed all": (slice(None, None, -1), Ellipsis),
    "box": (slice(1, 3), slice(None), slice(0, 1)),
    "nothing": (),
    "all": Ellipsis,
    "empty slice": slice(2, 2),
    "empty array": np.zeros(0, np.int32),
    "list in a tuple": ([0, 2], slice(1)),
    "integer": -1,
    "integers": (1, -2, 0, 2),
    "scalar arrays": (np.int32(2), np.array(-1)),
    "mask": _ROWS,
    "mask of two axes": _PLANE,
    "mask behind": (slice(None), np.array([True, False, True, False, True])),
    "mask and integer": (_ROWS, 1),
    "mask and array": (_ROWS, _J),
    "masks": (_ROWS, slice(None), slice(None), np.array([True, True, True])),
    "mask without elements": np.zeros(4, bool),
    "scalar masks": (True, slice(1, 2), np.array(True)),
    "false": False,
    "narrow": np.array([-1, 3], np.int8),
    "unsigned": np.array([0, 3], np.uint64),
}
