"""Structured control flow for bindax: functions whose course depends on traced values."""

from bindax_control_flow.associative_scan import associative_scan as associative_scan
from bindax_control_flow.cond import cond as cond
from bindax_control_flow.cond import cond_p as cond_p
from bindax_control_flow.cond import switch as switch
from bindax_control_flow.custom_linear_solve import custom_linear_solve as custom_linear_solve
from bindax_control_flow.custom_linear_solve import linear_solve_p as linear_solve_p
from bindax_control_flow.custom_root import custom_root as custom_root
from bindax_control_flow.fori_loop import fori_loop as fori_loop
from bindax_control_flow.map import map as map
from bindax_control_flow.platform_dependent import platform_dependent as platform_dependent
from bindax_control_flow.platform_dependent import platform_index_p as platform_index_p
from bindax_control_flow.scan import scan as scan
from bindax_control_flow.scan import scan_p as scan_p
from bindax_control_flow.while_loop import while_loop as while_loop
from bindax_control_flow.while_loop import while_p as while_p
from bindax_core.extend import register_internal

register_internal(__file__)
