"""Operators of arrays beside Python's lists, and beside integers that their dtype does not hold."""

import operator

import numpy as np
import pytest

import bindax_core as bx
from bindax_core.extend import config
from bindax_transforms import jit, make_jaxpr

COMPARISONS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
ARITHMETIC = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "floordiv", "mod", "and_", "or_", "xor")
}
OPERATORS = {
    **COMPARISONS,
    **ARITHMETIC,
    **{name: getattr(operator, name) for name in ("truediv", "pow", "matmul", "lshift", "rshift")},
    "divmod": divmod,
}
DTYPES = ("uint8", "int8", "int16", "uint32", "int32")
NUMBERS = (-(2**40), -300, -1, 0, 200, 300, 70000, 2**31, 2**40)


def array(x, dtype=None):
    return bx.Array.from_numpy(np.array(x, dtype))


@pytest.mark.parametrize("name", OPERATORS)
def test_lists_are_no_operands(name):
    for other in ([1, 2], (1, 2), {1, 2}, {1: 2}):
        for x in (array([1, 2], np.int32), array(2)):
            for a, b in ((x, other), (other, x)):
                with pytest.raises(TypeError, match=type(other).__name__):
                    OPERATORS[name](a, b)
                with pytest.raises(TypeError, match=type(other).__name__):
                    make_jaxpr(lambda a, b=other: OPERATORS[name](a, b))(x)


def test_what_compares_by_itself_does():
    x = array([1, 2])
    for other in (None, "a", object()):
        assert (x == other) is False
        assert (x != other) is True


def test_the_error_for_a_list_tells_what_to_do():
    with pytest.raises(TypeError, match=r"__rmul__: Array and list; make an array of the list"):
        [1, 2] * array([1, 2])


def compared(x, number):
    """All comparisons with a number, on either side."""
    made = [compare(x, number) for compare in COMPARISONS.values()]
    return made + [compare(number, x) for compare in COMPARISONS.values()]


@pytest.mark.every(4)
@pytest.mark.parametrize("dtype", DTYPES)
def test_comparisons_with_integers_are_exact(dtype):
    host = np.array([0, 1, 100], dtype)
    compiled = jit(compared)  # where a number is traced, and has no value that could be looked at
    for number in (*NUMBERS, -(2**70), 2**70):
        wanted = compared(host, number)
        np.testing.assert_array_equal(compared(array(host), number), wanted)
        if abs(number) < 2**63:
            np.testing.assert_array_equal(compiled(array(host), number), wanted)
    known = jit(lambda x: [compared(x, number) for number in NUMBERS])(array(host))
    np.testing.assert_array_equal(known, [compared(host, number) for number in NUMBERS])


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_with_integers_that_do_not_fit_is_an_error(name):
    x = array([1, 2], np.uint8)
    for call in (lambda: ARITHMETIC[name](x, 300), lambda: ARITHMETIC[name](-1, x)):
        with pytest.raises(OverflowError, match="does not fit into uint8; convert the array"):
            call()


def test_quotients_with_integers_that_do_not_fit():
    x = array([1, 2], np.uint8)
    for f in (operator.truediv, jit(operator.truediv)):
        np.testing.assert_allclose(f(x, 300), [1 / 300, 2 / 300], 1e-6)
        np.testing.assert_allclose(f(-300, x), [-300, -150], 1e-6)


@pytest.mark.every(4)
@pytest.mark.parametrize("dtype", DTYPES)
def test_integers_wrap_around_under_the_conventions_of_jax(dtype, jax_answers):
    host = np.array([3, 7, 100], dtype)
    functions = {**COMPARISONS, **ARITHMETIC, "truediv": operator.truediv}
    cases = [(name, number) for name in functions for number in NUMBERS]

    def computed(of):
        return [functions[name](of, number) for name, number in cases]

    keys = [f"{name}-{number}" for name, number in cases]
    wanted = jax_answers.each(keys, lambda jax: computed(jax.numpy.asarray(host)))
    with config.override(conventions="jax"):
        got = computed(array(host))
    for key, one, answer in zip(keys, got, wanted, strict=True):
        assert one.dtype == answer.dtype, key
        np.testing.assert_allclose(np.asarray(one), answer.array, 1e-6, err_msg=key)
