"""``jax.extend.core.Primitive``: primitives whose rules are given one by one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from bindax_core.errors import DuplicateRuleError
from bindax_core.extend import Primitive as _Primitive
from bindax_core.extend import Site, rules
from bindax_jax_names.shims._evaluations import replace_evaluation
from bindax_jax_names.shims._sites import of_package, package_frame
from bindax_jax_names.shims._tables import put_rule

Function = Callable[..., Any]
_numbers = count(1)


class Primitive(_Primitive):
    """A primitive of a package that is written for JAX.

    Its rules are rules of bindax, from that package: ``bindax.rule_coverage`` shows them.

    >>> double_p = Primitive("double")
    >>> _ = double_p.def_impl(lambda x: x * 2)
    >>> _ = double_p.def_abstract_eval(lambda x: x)
    >>> double_p.bind(3.0)
    Array(6., dtype=float64, weak_type=True)
    """

    call_primitive = False
    map_primitive = False
    ref_primitive = False
    _evaluation: Function | None = None

    def __init__(self, name: str) -> None:
        several = getattr(type(self), "multiple_results", None)  # a subclass may say so in its body
        site = Site(*package_frame())
        try:
            super().__init__(name, multiple_results=several is True, site=site)
        except DuplicateRuleError:  # JAX tells primitives apart by identity: names may repeat
            unique = f"{name}_{next(_numbers)}"
            super().__init__(unique, multiple_results=several is True, site=site)
            self.name = name
        # Rules that a subclass gives as methods.
        if type(self).impl is not Primitive.impl:
            self.def_impl(self.impl)
        if type(self).abstract_eval is not Primitive.abstract_eval:
            self.def_effectful_abstract_eval(self.abstract_eval)

    def def_impl(self, impl: Function) -> Function:
        """Give the evaluation; its operands are arrays."""
        self._evaluation = impl
        return replace_evaluation(self, impl)

    def def_abstract_eval(self, abstract_eval: Function) -> Function:
        """Give the types of the results from those of the operands."""
        rule = of_package(rules.abstract_eval(abstract_eval))
        put_rule(rules.abstract_eval, self, rule)
        return abstract_eval

    def def_effectful_abstract_eval(self, abstract_eval: Function) -> Function:
        """Give the types of the results, and effects, which are not followed here."""
        self.def_abstract_eval(lambda *avals, **params: abstract_eval(*avals, **params)[0])
        return abstract_eval

    def def_custom_bind(self, bind: Function) -> Function:
        """Apply the primitive by a function of the package."""
        self.bind: Function = bind
        return bind

    def impl(self, *operands: Any, **params: Any) -> Any:
        """Evaluate."""
        if self._evaluation is None:
            raise NotImplementedError(f"Evaluation rule for {self.name!r} not implemented")
        return self._evaluation(*operands, **params)

    def abstract_eval(self, *avals: Any, **params: Any) -> Any:
        """The types of the results, and the effects, of which there are none."""
        found = rules.abstract_eval.get(self)(*avals, **params)
        return (found if self.multiple_results else found[0]), frozenset()
