"""The rule kind of this package: ``cost``, the work of an equation.

>>> from bindax_inspect.rules import cost
>>> cost
RuleKind('cost')
"""

from bindax_core.extend import public_names as _public_names
from bindax_inspect.cost.kind import Cost as Cost
from bindax_inspect.cost.kind import cost as cost
from bindax_inspect.cost.kind import cost_of as cost_of
from bindax_inspect.cost.standard import by_name as _by_name

cost.derive(_by_name)

vars()["__all__"] = _public_names(vars())
