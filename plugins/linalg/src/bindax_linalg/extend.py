"""Parts for packages that build on the decompositions."""

from bindax_core.extend import public_names as _public_names
from bindax_linalg.lu import solve as solve

vars()["__all__"] = _public_names(vars())
