"""Along which axes of a mesh values differ between devices: a rule kind, and its reading."""

from bindax_parallel.varying.kind import varying as varying
from bindax_parallel.varying.kind import varying_axes as varying_axes
from bindax_parallel.varying.kind import varying_variables as varying_variables
from bindax_parallel.varying.standard import by_name as _by_name

varying.derive(_by_name)
