"""The checks of functions, one module for each family."""

# Each registers its checks, in the order of reports.
# isort: off
from bindax_testing._functions._checks import _purity as _purity
from bindax_testing._functions._checks import _types as _types
from bindax_testing._functions._checks import _dtypes as _dtypes
from bindax_testing._functions._checks import _derivatives as _derivatives
from bindax_testing._functions._checks import _complex_step as _complex_step
from bindax_testing._functions._checks._base import FUNCTION as FUNCTION
from bindax_testing._functions._checks._base import function_checks as function_checks
from bindax_testing._functions._checks._base import is_as_given as is_as_given
