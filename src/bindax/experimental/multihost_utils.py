"""Values that processes exchange outside of programs, and arrays between one process and all."""

from bindax_parallel.multihost_utils import assert_equal as assert_equal
from bindax_parallel.multihost_utils import broadcast_one_to_all as broadcast_one_to_all
from bindax_parallel.multihost_utils import (
    global_array_to_host_local_array as global_array_to_host_local_array,
)
from bindax_parallel.multihost_utils import (
    host_local_array_to_global_array as host_local_array_to_global_array,
)
from bindax_parallel.multihost_utils import process_allgather as process_allgather
from bindax_parallel.multihost_utils import sync_global_devices as sync_global_devices

__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "process_allgather",
    "sync_global_devices",
]
