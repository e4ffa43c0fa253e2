"""The names of the conformance suite that packages need which plan and run checks themselves.

>>> from bindax import lax
>>> from bindax_testing import array, sample
>>> def is_odd(case, compiler):
...     ((positive,), (negative,)) = (case.call(sign * case.operands[0]) for sign in (1, -1))
...     require_same("the function of -x", negative, -positive)
>>> check = Check("odd", "impl", is_odd)
>>> subject: Subject = subject_with(lax.sin_p, [sample(lax.sin_p, array((3,)))])
>>> plan: Plan = make_plan(subject)
>>> with checking():
...     for case in plan.cases[lax.sin_p]:
...         check.run(case, plan.compiler)
"""

from bindax_core.extend import public_names as _public_names
from bindax_testing._cases import Case as Case
from bindax_testing._checks import Check as Check
from bindax_testing._compare import NotApplicable as NotApplicable
from bindax_testing._compare import require_same as require_same
from bindax_testing._limits import run_limited as run_limited
from bindax_testing._plan import Plan as Plan
from bindax_testing._plan import checking as checking
from bindax_testing._plan import make_plan as make_plan
from bindax_testing._subjects import Subject as Subject
from bindax_testing._subjects import subject_of as subject_of
from bindax_testing._subjects import subject_with as subject_with

vars()["__all__"] = _public_names(vars())
