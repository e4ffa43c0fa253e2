"""Mutation of rules: mistakes made on purpose, and whether the samples of a plugin notice them."""

from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal
from bindax_mutation._report import Mutant as Mutant
from bindax_mutation._report import MutationReport as MutationReport
from bindax_mutation._run import mutate_plugin as mutate_plugin
from bindax_mutation._run import mutate_rules as mutate_rules
from bindax_mutation._run_text import mutate_text as mutate_text

vars()["__all__"] = _public_names(vars())
_register_internal(__file__)
