"""Checks of what a program computes, whose failures are values that functions return.

An error that depends on a traced value cannot be raised while a function is traced. ``check`` says
what must hold; ``checkify`` makes a function return, beside its results, which check failed first.

>>> import numpy as np
>>> from bindax_transforms import jit
>>> error, out = jit(checkify(lambda x: 1.0 / x, errors=div_checks))(np.float32(0.0))
>>> error.get()
'division by zero'

What is looked for is a set of kinds of errors; sets are joined by ``|``:

>>> float_checks == nan_checks | div_checks, index_checks <= automatic_checks
(True, True)
>>> all_checks == automatic_checks | user_checks
True
>>> OOBError in index_checks, FailedCheckError in user_checks
(True, True)

``Error.throw`` raises an exception of the kind; the kinds are classes of ``CheckError``:

>>> issubclass(NaNError, CheckError), ErrorCategory == type[CheckError]
(True, True)
"""

from bindax_core.extend import public_names as _public_names
from bindax_experimental.checkify.check import check as check
from bindax_experimental.checkify.check import check_error as check_error
from bindax_experimental.checkify.check import debug_check as debug_check
from bindax_experimental.checkify.errors import CheckError as CheckError
from bindax_experimental.checkify.errors import DivisionByZeroError as DivisionByZeroError
from bindax_experimental.checkify.errors import Error as Error
from bindax_experimental.checkify.errors import ErrorCategory as ErrorCategory
from bindax_experimental.checkify.errors import FailedCheckError as FailedCheckError
from bindax_experimental.checkify.errors import JaxRuntimeError as JaxRuntimeError
from bindax_experimental.checkify.errors import NaNError as NaNError
from bindax_experimental.checkify.errors import OOBError as OOBError
from bindax_experimental.checkify.errors import all_checks as all_checks
from bindax_experimental.checkify.errors import automatic_checks as automatic_checks
from bindax_experimental.checkify.errors import div_checks as div_checks
from bindax_experimental.checkify.errors import float_checks as float_checks
from bindax_experimental.checkify.errors import index_checks as index_checks
from bindax_experimental.checkify.errors import init_error as init_error
from bindax_experimental.checkify.errors import nan_checks as nan_checks
from bindax_experimental.checkify.errors import user_checks as user_checks
from bindax_experimental.checkify.interpreter import Checks as Checks
from bindax_experimental.checkify.interpreter import checked as checked
from bindax_experimental.checkify.interpreter import checkify as checkify

vars()["__all__"] = _public_names(vars())
