"""Collectives: operations across the elements of a named axis."""

from types import FunctionType as _FunctionType
from types import ModuleType as _ModuleType

from bindax_core.extend import api_boundary as _api_boundary
from bindax_core.extend import register_internal as _register_internal
from bindax_parallel.exchanges import *
from bindax_parallel.indices import *
from bindax_parallel.per_device import *
from bindax_parallel.permutations import *
from bindax_parallel.reductions import *
from bindax_parallel.shard_map.primitive import shard_map_p as shard_map_p
from bindax_parallel.shard_map.shard_map import shard_map as shard_map

# Type checkers know the names from the imports, and would take this for all that there is.
vars()["__all__"] = [
    name
    for name, value in list(vars().items())
    if not name.startswith("_") and not isinstance(value, _ModuleType)
]

# Here users call: errors that leave show the user's own frames.
for _name, _value in list(vars().items()):
    if isinstance(_value, _FunctionType) and not _name.startswith("_"):
        vars()[_name] = _api_boundary(_value)

_register_internal(__file__)
