"""Reports of what a program computes.

>>> import bindax_lax_basic as lax
>>> inspect(lax.sin)(1.0).jaxpr
{ lambda a:float64[] .
  let b:float64[] = sin a
  in ( b ) }
"""

from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_inspect.comparison.compare import compare as compare
from bindax_inspect.comparison.difference import Comparison as Comparison
from bindax_inspect.comparison.difference import Difference as Difference
from bindax_inspect.divided.hardware import DeviceKind as DeviceKind
from bindax_inspect.divided.hardware import device_kinds as device_kinds
from bindax_inspect.divided.hardware import register_device_kind as register_device_kind
from bindax_inspect.divided.inspect_mesh import inspect_mesh as inspect_mesh
from bindax_inspect.divided.mesh_report import MeshReport as MeshReport
from bindax_inspect.report.inspection import inspect as inspect
from bindax_inspect.report.report import Report as Report
from bindax_inspect.rules import Cost as Cost

vars()["__all__"] = _public_names(vars())
_register_internal(__file__)
