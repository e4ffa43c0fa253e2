"""The checks of rules, one module for each family."""

# Each registers its checks, in the order of reports.
# isort: off
from bindax_testing._checks import _types as _types
from bindax_testing._checks import _references as _references
from bindax_testing._checks import _purity as _purity
from bindax_testing._checks import _staging as _staging
from bindax_testing._checks import _derivatives as _derivatives
from bindax_testing._checks import _special_points as _special_points
from bindax_testing._checks import _transposition as _transposition
from bindax_testing._checks import _batching as _batching
from bindax_testing._checks import _compositions as _compositions
from bindax_testing._checks import _divisions as _divisions
from bindax_testing._checks import _round_trips as _round_trips
from bindax_testing._checks._base import CHECKS as CHECKS
from bindax_testing._checks._base import Check as Check
