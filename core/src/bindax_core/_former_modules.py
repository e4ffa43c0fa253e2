"""Modules under their former names, by which pickles of earlier versions find their classes."""

import sys

from bindax_core import _config, arrays
from bindax_core.arrays import _array, _array_tracer, _extended_dtypes, _shaped_array
from bindax_core.arrays.sharding import _mesh, _sharding, _spec
from bindax_core.kernel import _aval, _effects, _rules
from bindax_core.registry import _declared, _installed

sys.modules.update(
    {
        "bindax_core.arrays._array_type": _array_tracer,
        "bindax_core.kernel._config": _config,
        "bindax_core.kernel._extended": _extended_dtypes,
        "bindax_core.registry._api": _installed,
        "bindax_core.registry._copies": _declared,
        "bindax_core.runtime": arrays,
        "bindax_core.runtime._array": _array,
        "bindax_core.sharding._mesh": _mesh,
        "bindax_core.sharding._sharding": _sharding,
        "bindax_core.sharding._spec": _spec,
    }
)
vars(_aval)["ShapedArray"] = _shaped_array.ShapedArray
vars(_rules)["Effect"] = _effects.Effect
