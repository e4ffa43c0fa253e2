"""Boxes that carry what is known of each axis of an array through transformations.

>>> import numpy as np
>>> from bindax_axis_metadata import Partitioned, vmap
>>> box = Partitioned(np.ones((3, 2)), ("layers", "data"))
>>> seen = []
>>> def total(box):
...     seen.append(box.names)
...     return box.unbox().sum()
>>> vmap(total, metadata_params={Partitioned.AXIS_NAME: "layers"})(box).shape, seen
((3,), [('data',)])
"""

from bindax_axis_metadata.box import AxisMetadata as AxisMetadata
from bindax_axis_metadata.box import add_axis as add_axis
from bindax_axis_metadata.box import is_axis_metadata as is_axis_metadata
from bindax_axis_metadata.box import map_axis_meta as map_axis_meta
from bindax_axis_metadata.box import remove_axis as remove_axis
from bindax_axis_metadata.box import replace_boxed as replace_boxed
from bindax_axis_metadata.box import unbox as unbox
from bindax_axis_metadata.conformance import check_axis_metadata as check_axis_metadata
from bindax_axis_metadata.lifted import scan as scan
from bindax_axis_metadata.lifted import vmap as vmap
from bindax_axis_metadata.partitioned import Partitioned as Partitioned
from bindax_axis_metadata.partitioned import get_partition_spec as get_partition_spec
from bindax_axis_metadata.partitioned import get_sharding as get_sharding
from bindax_axis_metadata.partitioned import with_partitioning as with_partitioning
from bindax_core.sharding import PartitionSpec as PartitionSpec

PARTITION_NAME = Partitioned.AXIS_NAME
"""The entry of ``metadata_params`` that names the axis which a transformation adds."""

__all__ = [
    "PARTITION_NAME",
    "AxisMetadata",
    "PartitionSpec",
    "Partitioned",
    "add_axis",
    "check_axis_metadata",
    "get_partition_spec",
    "get_sharding",
    "is_axis_metadata",
    "map_axis_meta",
    "remove_axis",
    "replace_boxed",
    "scan",
    "unbox",
    "vmap",
    "with_partitioning",
]
