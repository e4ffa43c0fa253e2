"""Functions that evaluate arrays at once say what they say otherwise."""

from __future__ import annotations

import inspect
import threading
import traceback
from typing import Any

import numpy as np
import pytest

from bindax_core.errors import DeletedArrayError, RuleOutputError
from bindax_core.extend import (
    Array,
    Primitive,
    abstract_eval,
    impl,
    jvp,
    lowering,
    primitive,
    transpose,
)
from bindax_core.extend import vmap as vmap_rule
from bindax_transforms import direct, make_jaxpr, vmap

X = Array.from_numpy(np.array([3.0, 1.0, 2.0]))


def declare(name: str, compute: Any, result: Any = None, **options: Any) -> Primitive:
    absent = "a test"
    rule = result or (lambda x, *others, **params: x)
    return primitive(
        f"direct.{name}",
        impl(compute, planned=options.pop("planned", False)),
        abstract_eval(rule),
        jvp.absent(absent),
        vmap_rule(lambda size, operands, dims, **params: (operands[0], dims[0])),
        transpose.absent(absent),
        lowering["stablehlo"].absent(absent),
        **options,
    )


class Counted:
    """A direct function of a primitive, and how often what it stands for was called."""

    def __init__(self, which: Primitive, count: int, **options: Any) -> None:
        self.calls = 0

        def one(x: Any, scale: Any = 1.0) -> Any:
            """A function of one array."""
            self.calls += 1
            return which.bind(x)

        def two(x: Any, y: Any) -> Any:
            self.calls += 1
            return which.bind(x, y)

        self.function = direct(one if count == 1 else two, which, **options)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.function(*args, **named)


def unary(name: str) -> Counted:
    return Counted(declare(name, np.negative), 1)


def binary(name: str) -> Counted:
    return Counted(declare(name, np.subtract), 2)


def test_function_is_called_for_new_types_alone() -> None:
    negative, minus = unary("types"), binary("pairs of types")
    for _ in range(3):
        np.testing.assert_array_equal(negative(X), -X.numpy())
        np.testing.assert_array_equal(minus(X, X), [0, 0, 0])
    assert negative.calls == minus.calls == 1

    small = Array.from_numpy(np.ones(2, np.float32))
    for _ in range(3):
        assert negative(small).aval is small.aval
        assert minus(small, small).aval is small.aval
    assert negative.calls == minus.calls == 2


def test_function_is_called_for_all_else() -> None:
    negative, minus = unary("other operands"), binary("other pairs")
    negative(X), minus(X, X)
    others = (
        lambda: negative(X.numpy()),
        lambda: negative(X, 2.0),
        lambda: negative(x=X),
        lambda: vmap(negative.function)(X),
        lambda: make_jaxpr(negative.function)(X),
        lambda: minus(X, X.numpy()),
        lambda: minus(X, y=X),
        lambda: minus(x=X, y=X),
        lambda: make_jaxpr(lambda: minus(X, X))(),
    )
    for count, call in enumerate(others, 2):
        call()
        assert negative.calls + minus.calls == count + 1
    assert "direct.other_pairs" in str(others[-1]()).replace(" ", "_")


def test_wrong_arguments_are_those_of_the_function() -> None:
    negative, minus = unary("arguments").function, binary("arguments of two").function

    assert str(inspect.signature(negative)) == "(x: 'Any', scale: 'Any' = 1.0) -> 'Any'"
    assert negative.__doc__ == "A function of one array."
    with pytest.raises(TypeError, match=r"one\(\) missing 1 required positional argument: 'x'"):
        negative()
    with pytest.raises(TypeError, match=r"two\(\) missing 1 required positional argument: 'y'"):
        minus(X)
    with pytest.raises(TypeError, match=r"two\(\) takes 2 positional arguments but 3 were given"):
        minus(X, X, X)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'z'"):
        minus(X, X, z=1)


def test_functions_of_other_numbers_of_arrays_are_refused() -> None:
    which = declare("counts", np.negative)
    for function, count in ((lambda *xs: xs, 0), (lambda x, y, z: x, 3), (lambda x=1: x, 0)):
        message = rf"one or two arrays, but <lambda> \(.*test_direct.py:\d+\) has {count} arguments"
        with pytest.raises(TypeError, match=message):
            direct(function, which)


def test_errors_show_the_users_frames() -> None:
    def refuse(x: Any) -> Any:
        raise ValueError("not today")

    which = declare("refused", np.negative, refuse)
    function = direct(lambda x: which.bind(x), which)

    with pytest.raises(ValueError, match="not today") as caught:
        function(X)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "call" not in names
    assert "first" not in names


def test_scalars_lists_and_wrong_results() -> None:
    results: list[Any] = [np.float64(6.0), np.float64(7.0), np.zeros(2)]
    which = declare("scalar", lambda x: results.pop(0), lambda x: x.update(shape=()))
    total = Counted(which, 1)
    assert [float(total(X)), float(total(X))] == [6.0, 7.0]
    results.append(np.zeros(2))
    with pytest.raises(RuleOutputError, match=r"direct\.scalar returned float64\[2\]"):
        total(X)

    several = declare("list", lambda x: [-x], lambda x: [x], multiple_results=True)
    function = direct(lambda x: several.bind(x)[0], several)
    for _ in range(3):
        np.testing.assert_array_equal(function(X), -X.numpy())


def test_exchanged_rules_are_forgotten() -> None:
    negative = unary("exchanged")
    which = inspect.unwrap(negative.function).__closure__
    negative(X)
    assert which is not None
    (primitive_,) = [cell.cell_contents for cell in which if type(cell.cell_contents) is Primitive]
    primitive_.forget_signatures()
    negative(X)
    assert negative.calls == 2


def test_parameters_are_those_of_the_types() -> None:
    dtype = np.dtype(np.float64)

    def plan(x: Any, *, to: Any) -> Any:
        return (lambda x: -x) if to is None else (lambda x: x * 0)

    which = declare("parameters", plan, lambda x, *, to: x, planned=True)
    function = direct(lambda x: which.bind(x, to=None), which, lambda x: {"to": None})
    unknown = direct(lambda x: which.bind(x, to=None), which, lambda x: None)
    wrong = direct(lambda x: which.bind(x, to=None), which, lambda x: {"to": dtype})

    for _ in range(3):
        which.bind(X, to=dtype)  # NumPy calls it equal to None
        for each in (function, unknown, wrong):
            np.testing.assert_array_equal(each(X), -X.numpy())
        which.bind(X, to=dtype)


def test_rules_that_take_parameters() -> None:
    which = declare("takes", lambda x, *, factor: x * factor, lambda x, *, factor: x)
    function = direct(lambda x: which.bind(x, factor=2), which, lambda x: {"factor": 2})
    for _ in range(3):
        np.testing.assert_array_equal(function(X), 2 * X.numpy())


def test_deleted_arrays_are_refused() -> None:
    negative, minus = unary("deleted"), binary("one of two deleted")
    negative(X), minus(X, X)
    gone = Array.from_numpy(np.ones(3))
    gone.delete()
    for call in (lambda: negative(gone), lambda: minus(X, gone), lambda: minus(gone, X)):
        with pytest.raises(DeletedArrayError, match="used after it was deleted"):
            call()


def test_many_threads() -> None:
    minus = binary("threads")
    wrong: list[Any] = []

    def run(number: int) -> None:
        x = Array.from_numpy(np.full(number + 1, float(number)))
        for _ in range(200):
            if not np.array_equal(minus(x, x), np.zeros(number + 1)):
                wrong.append(number)
            make_jaxpr(minus.function)(x, x)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
