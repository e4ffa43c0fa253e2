"""What ``checkpoint`` says when it is used wrongly, and what ``print_saved_residuals`` prints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import toy

import bindax_transforms as bt
from bindax_core.errors import ConcretizationTypeError
from bindax_transforms import checkpoint, checkpoint_name, print_saved_residuals, saved_residuals
from bindax_transforms import checkpoint_policies as policies

pytestmark = pytest.mark.usefixtures("toy_operations")


def test_control_flow_on_a_traced_value() -> None:
    @checkpoint
    def branch(x: Any) -> Any:
        return x if x > 0.0 else -x

    with pytest.raises(ConcretizationTypeError, match=r"static_argnums") as caught:
        branch(1.0)
    text = str(caught.value)
    assert text.startswith("Attempted boolean conversion of a traced value")
    assert "in checkpoint of branch (" in text
    assert "it was made by toy.greater at" in text

    with pytest.raises(ConcretizationTypeError, match=r"in checkpoint of .*static_argnums"):
        checkpoint(lambda x: toy.sin(float(x)))(1.0)
    assert float(checkpoint(lambda x, n: x if n > 0 else -x, static_argnums=1)(1.0, 0)) == -1.0


def test_static_arguments_need_no_hash() -> None:
    @checkpoint(static_argnums=(1,))
    def g(x: Any, sizes: Any) -> Any:
        return x * len(sizes)

    assert float(g(1.0, [1, 2])) == 2.0
    assert float(bt.grad(g)(1.0, [1, 2, 3])) == 3.0


def test_argument_that_is_no_array() -> None:
    def g(x: Any, options: Any) -> Any:
        return x

    with pytest.raises(
        TypeError,
        match=r"checkpoint of g \(.*\): argument options\['mode'\] is not an array: .*give its "
        r"position in static_argnums",
    ):
        checkpoint(g)(1.0, {"mode": "fast"})
    with pytest.raises(TypeError, match=r"checkpoint of <lambda> \(.*\) returned at output\[1\]"):
        checkpoint(lambda x: (x, "text"))(1.0)


def test_policies_that_are_none() -> None:
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, primitive: Any, *avals: Any, **params: Any) -> bool:
            return True

    with pytest.raises(TypeError, match=r"policy of checkpoint must be hashable.*Unhashable"):
        checkpoint(toy.sin, policy=Unhashable())
    with pytest.raises(TypeError, match=r"save_only_these_names takes names, .*but got \['a'\]"):
        policies.save_only_these_names(["a"])  # type: ignore[arg-type]
    with pytest.raises(
        TypeError,
        match=r"the policy save_only_these_names .* of checkpoint must return True or False, but "
        r"for toy.sin it returned .*save_only_these_names\('name'\)\.",
    ):
        bt.linearize(checkpoint(toy.sin, policy=_forgotten), 1.0)


def _forgotten(*args: Any, **params: Any) -> Any:
    return "yes"


_forgotten.__name__ = "save_only_these_names"


def test_names_are_strings() -> None:
    with pytest.raises(TypeError, match=r"must be a string, but it is 1\.0 of type float.*first"):
        checkpoint_name("hidden", 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"checkpoint_name of x\['b'\]: .*str"):
        checkpoint_name({"a": 1.0, "b": "text"}, "n")


def test_types_of_a_program_are_checked() -> None:
    eqn = bt.make_jaxpr(checkpoint(toy.sin))(1.0).eqns[0]
    with pytest.raises(
        TypeError, match=r"checkpoint of a program that takes \(float64\[\]\) was applied to \(flo"
    ):
        bt.make_jaxpr(lambda x: eqn.primitive.bind(x, **eqn.params))(np.ones(2))


def model(p: Any, x: Any) -> Any:
    hidden = checkpoint_name(toy.sin(toy.mul(p["w"], x)), "hidden")
    return toy.mul(toy.sin(hidden), toy.sin(x))


def arguments() -> tuple[Any, Any]:
    return {"w": np.ones(2), "b": np.ones(())}, np.ones(2)


def test_every_residual_says_where_it_comes_from(capsys: pytest.CaptureFixture[str]) -> None:
    line = model.__code__.co_firstlineno
    print_saved_residuals(
        checkpoint(bt.jit(model), policy=policies.save_only_these_names("hidden")), *arguments()
    )
    printed = capsys.readouterr().out.replace(__file__, "FILE")
    assert printed == (
        f"residuals of model (FILE:{line}):\n"
        f"  float64[2]  16 bytes  is the argument p['w']\n"
        f"  float64[2]  16 bytes  is the argument x\n"
        f"  float64[2]  16 bytes  is named 'hidden' at FILE:{line + 1} (model)\n"
        f"  3 values, 48 bytes\n"
    )


def test_residuals_by_keyword_and_none() -> None:
    (only,) = saved_residuals(lambda a, *, b: toy.mul(a, b), 3.0, b=np.float64(2.0))[:1]
    assert str(only).startswith("float64[] is the argument ")
    assert only.nbytes == 8
    assert saved_residuals(toy.neg, 1.0) == []
    with pytest.raises(TypeError, match=r"saved_residuals of argument x\[0\]: .*str"):
        saved_residuals(lambda x: x, ["text"])
