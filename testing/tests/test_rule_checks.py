"""The debug mode ``config.check_rules`` names the rule that is wrong at its first use."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from planted import declare

from bindax_core import config, errors
from bindax_core.extend import UndefPrimal, abstract_eval, impl, jvp, transpose, typeof
from bindax_core.extend import vmap as vmap_rule
from bindax_transforms import jvp as jvp_of
from bindax_transforms import vmap

pytestmark = pytest.mark.usefixtures("toy_operations")
X = np.arange(6.0).reshape(2, 3) + 1.0


def in_place(x: Any) -> Any:
    x *= 3
    return x


def transposed(made: Any) -> Any:
    return transpose.get(made)([X], UndefPrimal(typeof(X)))


WRONG: dict[str, tuple[str, Any, Any, str]] = {
    "tangent of another type": (
        "jvp",
        lambda bind: jvp(lambda p, t: (bind(*p), bind(t[0][0]))),
        lambda made: jvp_of(made.bind, (X,), (X,)),
        r"tangent of result 0 should be float64\[2,3\], but is float64\[3\]",
    ),
    "no pair": (
        "jvp",
        lambda bind: jvp(lambda p, t: (bind(*p), bind(*t), None)),
        lambda made: jvp_of(made.bind, (X,), (X,)),
        r"returned a tuple of 3 .* where a pair is due. Its signature is \(primals, tangents",
    ),
    "another arity": (
        "vmap",
        lambda bind: vmap_rule(lambda operands, dims: (bind(*operands), dims[0])),
        lambda made: vmap(made.bind)(X),
        r"takes 2 positional arguments but 3 were given; .* signature \(axis_size",
    ),
    "batch axis that is none": (
        "vmap",
        lambda bind: vmap_rule(lambda size, operands, dims: (bind(*operands), 5)),
        lambda made: vmap(made.bind)(X),
        "batch dimension 5 of result 0 is no axis of",
    ),
    "batch axis of another size": (
        "vmap",
        lambda bind: vmap_rule(lambda size, operands, dims: (bind(*operands), 1)),
        lambda made: vmap(made.bind)(X),
        "should have the batch size 2",
    ),
    "batch with another element": (
        "vmap",
        lambda bind: vmap_rule(lambda size, operands, dims: (X, None)),
        lambda made: vmap(made.bind)(X),
        "without its batch dimension",
    ),
    "too many cotangents": (
        "transpose",
        lambda bind: transpose(lambda ct, x: [ct, ct]),
        transposed,
        "the cotangents should be a sequence of 1",
    ),
    "cotangent of another type": (
        "transpose",
        lambda bind: transpose(lambda ct, x: [ct[0]]),
        transposed,
        r"cotangent of operand 0 should be float64\[2,3\]",
    ),
    "transpose that is not linear": (
        "transpose",
        lambda bind: transpose(lambda ct, x: [np.abs(ct)]),
        transposed,
        "is not linear",
    ),
    "changed operand": (
        "impl",
        lambda bind: impl(in_place),
        lambda made: made.bind(X.copy()),
        "writes to one of its operands, which are read-only",
    ),
    "no abstract value": (
        "abstract_eval",
        lambda bind: abstract_eval(lambda x: x.shape),
        lambda made: made.bind(X),
        "should be an abstract value",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rule_is_named(name: str) -> None:
    kind, rule, use, message = WRONG[name]
    made = declare(**{kind: rule})

    with config.override(check_rules=True), pytest.raises(errors.RuleOutputError) as caught:
        use(made)

    text = str(caught.value)
    assert f"the {kind} rule of planted.triple" in text
    assert __file__ in text
    with pytest.raises(errors.RuleOutputError, match=message):
        raise caught.value


def test_right_rules_pass_and_are_checked_once_for_each_type() -> None:
    calls = []

    def counted(ct: Any, x: Any) -> Any:
        calls.append(ct)
        return [3.0 * np.asarray(ct)]

    made = declare(transpose=lambda bind: transpose(counted))
    with config.override(check_rules=True):
        transposed(made)
        assert len(calls) == 2  # once more for linearity
        transposed(made)
        assert len(calls) == 3
        np.testing.assert_allclose(np.asarray(vmap(made.bind)(X)), 3 * X)


def test_rules_themselves_are_called_when_it_is_off() -> None:
    function = lambda x: 3 * x  # noqa: E731 -- compared by identity
    made = declare(impl=lambda bind: impl(function))

    assert impl.functions[made] is function
    with config.override(check_rules=True):
        assert impl.functions[made] is not function
        later = declare(impl=lambda bind: impl(function))
        assert impl.functions[later] is not function
    assert impl.functions[made] is function
    assert impl.functions[later] is function


def test_environment_variable_turns_it_on() -> None:
    program = (
        "from bindax_core import config; from bindax_transforms import jit_p; "
        "from bindax_core.extend import vmap; "
        "print(config.check_rules, vmap.functions[jit_p].__module__)"
    )
    environment = {"BINDAX_CHECK_RULES": "1", "PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["True", "bindax_testing._debug"]
