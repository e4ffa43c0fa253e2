"""Collectives across the elements of a named axis, and arrays over several processes."""

from bindax_core.extend import bound_functions as _bound_functions
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_parallel.casting import *
from bindax_parallel.exchanges import *
from bindax_parallel.global_arrays import *
from bindax_parallel.indices import *
from bindax_parallel.pending import *
from bindax_parallel.per_device import *
from bindax_parallel.permutations import *
from bindax_parallel.processes import *
from bindax_parallel.reductions import *
from bindax_parallel.restrictions import *
from bindax_parallel.shard_map.primitive import shard_map_p as shard_map_p
from bindax_parallel.shard_map.shard_map import shard_map as shard_map
from bindax_parallel.shard_map.shard_map import smap as smap

vars()["__all__"] = _public_names(vars())

_bound_functions(vars())

_register_internal(__file__)
