"""The door for checking a plugin: do its definitions keep the contract of bindax?

The checks use public names alone, so that what passes here is what transformations need.

>>> from bindax_core.testing import check_pytree
>>> report = check_pytree({"a": (1.0, None)})
>>> report.ok
False
>>> print(report)
PyTreeReport: 1 planned, 0 passed, 1 failed, 0 skipped, 0 expected to fail
failed: has nodes, dict at the root: the examples hold no node of a registered type, so that nothing
was checked. Register the type first, and pass an instance of it.
"""

from bindax_core.testing._pytrees._report import PyTreeCheck as PyTreeCheck
from bindax_core.testing._pytrees._report import PyTreeConformanceError as PyTreeConformanceError
from bindax_core.testing._pytrees._report import PyTreeReport as PyTreeReport
from bindax_core.testing._pytrees._run import check_pytree as check_pytree
