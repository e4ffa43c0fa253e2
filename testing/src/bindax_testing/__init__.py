"""Checks of plugins: do their definitions keep the contract of bindax?

The checks use public names alone, so that what passes here is what transformations need.

>>> from bindax_testing import check_pytree
>>> report = check_pytree({"a": (1.0, None)})
>>> report.ok
False
>>> print(report)
PyTreeReport: 1 planned, 0 passed, 1 failed, 0 skipped, 0 expected to fail
failed: has nodes, dict at the root: the examples hold no node of a registered type, so that nothing
was checked. Register the type first, and pass an instance of it.
"""

import typing as _typing
from importlib import import_module as _import_module

from bindax_core.extend import missing_attribute as _missing_attribute
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_testing._backends._accuracy import Measurement as Measurement
from bindax_testing._backends._execution import BackendCall as BackendCall
from bindax_testing._backends._execution import BackendCheck as BackendCheck
from bindax_testing._backends._execution import backend_check as backend_check
from bindax_testing._backends._report import BackendReport as BackendReport
from bindax_testing._backends._run import check_backend as check_backend
from bindax_testing._cases import Case as Case
from bindax_testing._compare import Mismatch as Mismatch
from bindax_testing._compare import NotApplicable as NotApplicable
from bindax_testing._conformance import check_plugin as check_plugin
from bindax_testing._conformance import check_primitive as check_primitive
from bindax_testing._conformance import check_rules as check_rules
from bindax_testing._conformance import check_sample as check_sample
from bindax_testing._conformance import conformance as conformance
from bindax_testing._debug import checked_rule as checked_rule
from bindax_testing._domains import NONZERO as NONZERO
from bindax_testing._domains import POSITIVE as POSITIVE
from bindax_testing._domains import REAL as REAL
from bindax_testing._domains import UNIT_INTERVAL as UNIT_INTERVAL
from bindax_testing._domains import Domain as Domain
from bindax_testing._domains import away_from as away_from
from bindax_testing._domains import between as between
from bindax_testing._functions._call import FunctionCall as FunctionCall
from bindax_testing._functions._extensions import FunctionAdapter as FunctionAdapter
from bindax_testing._functions._extensions import FunctionCheck as FunctionCheck
from bindax_testing._functions._extensions import HostFunctions as HostFunctions
from bindax_testing._functions._extensions import function_adapter as function_adapter
from bindax_testing._functions._extensions import function_check as function_check
from bindax_testing._functions._extensions import host_functions as host_functions
from bindax_testing._functions._files import check_function_of_file as check_function_of_file
from bindax_testing._functions._report import FunctionReport as FunctionReport
from bindax_testing._functions._run import check_function as check_function
from bindax_testing._pytrees._report import PyTreeCheck as PyTreeCheck
from bindax_testing._pytrees._report import PyTreeConformanceError as PyTreeConformanceError
from bindax_testing._pytrees._report import PyTreeReport as PyTreeReport
from bindax_testing._pytrees._run import check_pytree as check_pytree
from bindax_testing._refusals import Refusal as Refusal
from bindax_testing._refusals import refusal as refusal
from bindax_testing._refusals import refused_dtypes as refused_dtypes
from bindax_testing._results import CheckInterrupted as CheckInterrupted
from bindax_testing._results import ConformanceError as ConformanceError
from bindax_testing._results import RuleReport as RuleReport
from bindax_testing._results import RuleResult as RuleResult
from bindax_testing._samples import ContainerSample as ContainerSample
from bindax_testing._samples import EquivalentMutant as EquivalentMutant
from bindax_testing._samples import ExpectedFailure as ExpectedFailure
from bindax_testing._samples import Operand as Operand
from bindax_testing._samples import RuleCheck as RuleCheck
from bindax_testing._samples import Sample as Sample
from bindax_testing._samples import array as array
from bindax_testing._samples import container as container
from bindax_testing._samples import elementwise as elementwise
from bindax_testing._samples import known as known
from bindax_testing._samples import rule_check as rule_check
from bindax_testing._samples import sample as sample
from bindax_testing._shardings import check_shardings as check_shardings
from bindax_testing._transformations._report import TransformationReport as TransformationReport
from bindax_testing._transformations._run import check_transformation as check_transformation
from bindax_testing._transformations._run import transformation as transformation
from bindax_testing._transformations._subject import TransformationProgram as TransformationProgram
from bindax_testing._transformations._subject import TransformationSample as TransformationSample
from bindax_testing._transformations._subject import (
    transformation_program as transformation_program,
)

if _typing.TYPE_CHECKING:
    from bindax_mutation import Mutant as Mutant
    from bindax_mutation import MutationReport as MutationReport
    from bindax_mutation import mutate_plugin as mutate_plugin
    from bindax_mutation import mutate_rules as mutate_rules
    from bindax_mutation import mutate_text as mutate_text

vars()["__all__"] = _public_names(vars())
_register_internal(__file__)

_MUTATION = ("Mutant", "MutationReport", "mutate_plugin", "mutate_rules", "mutate_text")


def __getattr__(name: str) -> _typing.Any:
    if name not in _MUTATION:
        raise _missing_attribute(__name__, name, vars())
    try:
        return getattr(_import_module("bindax_mutation"), name)
    except ModuleNotFoundError as error:
        if error.name != "bindax_mutation":
            raise
        message = f"bindax_testing.{name} needs the package bindax-mutation: pip install it."
        raise ModuleNotFoundError(message, name=error.name) from None


def __dir__() -> list[str]:
    return sorted({*globals(), *_MUTATION})
