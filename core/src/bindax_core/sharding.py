"""Devices in a mesh, and how arrays lie on them: data that every backend can read."""

from bindax_core._exports import public_names as _public_names
from bindax_core.arrays._device_put import check_layout as check_layout
from bindax_core.arrays._memories import Space as Space
from bindax_core.arrays.sharding._ambiguity import ambiguous as ambiguous
from bindax_core.arrays.sharding._current_mesh import get_abstract_mesh as get_abstract_mesh
from bindax_core.arrays.sharding._current_mesh import get_mesh as get_mesh
from bindax_core.arrays.sharding._current_mesh import mesh_at_work as mesh_at_work
from bindax_core.arrays.sharding._current_mesh import set_mesh as set_mesh
from bindax_core.arrays.sharding._current_mesh import use_abstract_mesh as use_abstract_mesh
from bindax_core.arrays.sharding._current_mesh import use_mesh as use_mesh
from bindax_core.arrays.sharding._current_mesh import with_devices as with_devices
from bindax_core.arrays.sharding._laying import as_open_sum as as_open_sum
from bindax_core.arrays.sharding._laying import constrained as constrained
from bindax_core.arrays.sharding._laying import laid_as as laid_as
from bindax_core.arrays.sharding._laying import pinned as pinned
from bindax_core.arrays.sharding._layout import AutoLayout as AutoLayout
from bindax_core.arrays.sharding._layout import Format as Format
from bindax_core.arrays.sharding._layout import Layout as Layout
from bindax_core.arrays.sharding._layout import concrete_format as concrete_format
from bindax_core.arrays.sharding._layout import split_format as split_format
from bindax_core.arrays.sharding._mesh import AbstractDevice as AbstractDevice
from bindax_core.arrays.sharding._mesh import AbstractMesh as AbstractMesh
from bindax_core.arrays.sharding._mesh import AxisType as AxisType
from bindax_core.arrays.sharding._mesh import Mesh as Mesh
from bindax_core.arrays.sharding._mesh import make_mesh as make_mesh
from bindax_core.arrays.sharding._sharding import NamedSharding as NamedSharding
from bindax_core.arrays.sharding._sharding import Sharding as Sharding
from bindax_core.arrays.sharding._sharding import SingleDeviceSharding as SingleDeviceSharding
from bindax_core.arrays.sharding._sharding import (
    make_single_device_sharding as make_single_device_sharding,
)
from bindax_core.arrays.sharding._sharding import named as named
from bindax_core.arrays.sharding._sharding import open_axes as open_axes
from bindax_core.arrays.sharding._spec import PartitionSpec as PartitionSpec
from bindax_core.arrays.sharding._spec import UnreducedKind as UnreducedKind
from bindax_core.arrays.sharding._types import ManualAxisType as ManualAxisType
from bindax_core.arrays.sharding._types import whole as whole

P = PartitionSpec

vars()["__all__"] = _public_names(vars())
