"""Compilation of bindax programs with IREE, for this machine and ahead of time for others.

``jit(f, backend="iree")`` compiles and runs a function of this process; ``deploy`` compiles an
exported program to a file that the runtime of IREE loads without bindax. Importing the package
imports neither the compiler nor the runtime.
"""

from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_iree._backend import IreeBackend as IreeBackend
from bindax_iree._deploy import deploy as deploy
from bindax_iree._errors import CompilationError as CompilationError
from bindax_iree._errors import ExecutionError as ExecutionError
from bindax_iree._errors import InstallationError as InstallationError
from bindax_iree._example import example_program as example_program
from bindax_iree._targets import TARGETS as TARGETS

_register_internal(__file__)

vars()["__all__"] = _public_names(vars())
