"""The errors that bindax raises; those that JAX has, too, have the names they have there."""

from bindax_core import errors as _errors

AbstractionError = _errors.AbstractionError
BackendError = _errors.BackendError
BindaxError = _errors.BindaxError
ConcretizationTypeError = _errors.ConcretizationTypeError
DuplicateRuleError = _errors.DuplicateRuleError
JaxprTypeError = _errors.JaxprTypeError
MissingOperationsError = _errors.MissingOperationsError
MissingRuleError = _errors.MissingRuleError
PluginConflictError = _errors.PluginConflictError
PluginError = _errors.PluginError
PluginLoadError = _errors.PluginLoadError
PluginVersionError = _errors.PluginVersionError
PluginWarning = _errors.PluginWarning
RuleOutputError = _errors.RuleOutputError
TracerArrayConversionError = _errors.TracerArrayConversionError
TracerBoolConversionError = _errors.TracerBoolConversionError
TracerIntegerConversionError = _errors.TracerIntegerConversionError
TracingRecursionError = _errors.TracingRecursionError
TreeError = _errors.TreeError
UnexpectedTracerError = _errors.UnexpectedTracerError
