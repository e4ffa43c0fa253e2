"""Devices in a mesh, and which part of an array lies on which device.

>>> import bindax
>>> from bindax.sharding import NamedSharding, PartitionSpec as P
>>> mesh = bindax.make_mesh((1,), ("data",))
>>> x = bindax.device_put(bindax.numpy.ones(2), NamedSharding(mesh, P("data")))
>>> x.is_fully_addressable, x.addressable_shards[0].index
(True, (slice(None, None, None),))
"""

from bindax_core.errors import IndivisibleError as IndivisibleError
from bindax_core.extend import public_names as _public_names
from bindax_core.sharding import AbstractDevice as AbstractDevice
from bindax_core.sharding import AbstractMesh as AbstractMesh
from bindax_core.sharding import AxisType as AxisType
from bindax_core.sharding import ManualAxisType as ManualAxisType
from bindax_core.sharding import Mesh as Mesh
from bindax_core.sharding import NamedSharding as NamedSharding
from bindax_core.sharding import PartitionSpec as PartitionSpec
from bindax_core.sharding import Sharding as Sharding
from bindax_core.sharding import SingleDeviceSharding as SingleDeviceSharding
from bindax_core.sharding import UnreducedKind as UnreducedKind
from bindax_core.sharding import get_abstract_mesh as get_abstract_mesh
from bindax_core.sharding import get_mesh as get_mesh
from bindax_core.sharding import make_single_device_sharding as make_single_device_sharding
from bindax_core.sharding import set_mesh as set_mesh
from bindax_core.sharding import use_abstract_mesh as use_abstract_mesh
from bindax_core.sharding import use_mesh as use_mesh
from bindax_parallel import no_collectives as no_collectives
from bindax_transforms.compilation.explicit_shardings import auto_axes as auto_axes
from bindax_transforms.compilation.explicit_shardings import explicit_axes as explicit_axes
from bindax_transforms.compilation.explicit_shardings import reshard as reshard

vars()["__all__"] = _public_names(vars())
