"""Parts for other packages: values that vary between devices, and programs of each device.

>>> from bindax_parallel.extend import varying
>>> varying
RuleKind('varying')
"""

from bindax_core.extend import public_names as _public_names
from bindax_parallel.shard_map.primitive import bind_program as bind_program
from bindax_parallel.shard_map.specs import manual_axes as manual_axes
from bindax_parallel.varying import varying as varying
from bindax_parallel.varying import varying_axes as varying_axes

vars()["__all__"] = _public_names(vars())
