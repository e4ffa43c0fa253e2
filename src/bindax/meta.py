"""Boxes that carry what is known of each axis of an array through transformations."""

from bindax_axis_metadata import PARTITION_NAME as PARTITION_NAME
from bindax_axis_metadata import AxisMetadata as AxisMetadata
from bindax_axis_metadata import Partitioned as Partitioned
from bindax_axis_metadata import PartitionSpec as PartitionSpec
from bindax_axis_metadata import add_axis as add_axis
from bindax_axis_metadata import check_axis_metadata as check_axis_metadata
from bindax_axis_metadata import get_partition_spec as get_partition_spec
from bindax_axis_metadata import get_sharding as get_sharding
from bindax_axis_metadata import is_axis_metadata as is_axis_metadata
from bindax_axis_metadata import map_axis_meta as map_axis_meta
from bindax_axis_metadata import remove_axis as remove_axis
from bindax_axis_metadata import replace_boxed as replace_boxed
from bindax_axis_metadata import scan as scan
from bindax_axis_metadata import unbox as unbox
from bindax_axis_metadata import vmap as vmap
from bindax_axis_metadata import with_partitioning as with_partitioning
from bindax_core.extend import public_names as _public_names

vars()["__all__"] = _public_names(vars())
