"""The errors that bindax raises; those that JAX has, too, have the names they have there."""

from bindax_core.errors import AbstractionError as AbstractionError
from bindax_core.errors import BackendError as BackendError
from bindax_core.errors import BindaxError as BindaxError
from bindax_core.errors import ConcretizationTypeError as ConcretizationTypeError
from bindax_core.errors import DeletedArrayError as DeletedArrayError
from bindax_core.errors import DuplicateRuleError as DuplicateRuleError
from bindax_core.errors import JaxprTextError as JaxprTextError
from bindax_core.errors import JaxprTypeError as JaxprTypeError
from bindax_core.errors import MissingOperationsError as MissingOperationsError
from bindax_core.errors import MissingRuleError as MissingRuleError
from bindax_core.errors import PluginConflictError as PluginConflictError
from bindax_core.errors import PluginError as PluginError
from bindax_core.errors import PluginLoadError as PluginLoadError
from bindax_core.errors import PluginVersionError as PluginVersionError
from bindax_core.errors import PluginWarning as PluginWarning
from bindax_core.errors import RuleOutputError as RuleOutputError
from bindax_core.errors import TracerArrayConversionError as TracerArrayConversionError
from bindax_core.errors import TracerBoolConversionError as TracerBoolConversionError
from bindax_core.errors import TracerIntegerConversionError as TracerIntegerConversionError
from bindax_core.errors import TracingRecursionError as TracingRecursionError
from bindax_core.errors import TreeError as TreeError
from bindax_core.errors import UnexpectedTracerError as UnexpectedTracerError
