"""Structured control flow for bindax: functions whose course depends on traced values."""

from bindax_control_flow.cond import cond as cond
from bindax_control_flow.cond import cond_p as cond_p
from bindax_control_flow.cond import switch as switch
from bindax_core.extend import register_internal

register_internal(__file__)
