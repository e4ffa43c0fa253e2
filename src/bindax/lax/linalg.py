"""Linear algebra, with JAX's names."""

from bindax_linalg import *

# Type checkers know the names from the import, and would take this for all that there is.
vars()["__all__"] = [name for name in list(vars()) if not name.startswith("_")]
