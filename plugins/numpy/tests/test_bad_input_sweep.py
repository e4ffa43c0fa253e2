"""Every public function with values that it does not take: only errors that a user can read."""

import contextlib
import inspect
import io
import warnings

import numpy as np
import pytest

import bindax_numpy as jnp
from bindax_core.errors import BindaxError

BAD = {
    "None": None,
    "a text": "a",
    "a dict": {"a": 1},
    "an object": object(),
    "a list of texts": ["a", "b"],
    "a ragged list": [[1], [2, 3]],
    "nothing": np.zeros((0, 3), np.float32),
    "complex": np.array([1j, 2]),
    "a huge number": 2**70,
    "a negative number": -3,
    "a function": len,
    "texts": np.array(["a"]),
    "a matrix": np.ones((2, 3), np.float32),
    "a fraction": 0.5,
}
LEGAL = (TypeError, ValueError, IndexError, OverflowError, BindaxError)
# They hand on what they are given to NumPy or to the user's function, or touch files.
SKIPPED = {"set_printoptions", "printoptions", "get_printoptions", "load", "save", "savez"}
SKIPPED |= {"fromfile", "fromfunction", "iterable"}


def functions():
    for module, prefix in ((jnp, ""), (jnp.linalg, "linalg."), (jnp.fft, "fft.")):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not isinstance(value, type) and name not in SKIPPED:
                yield prefix + name, value


def required(function):
    """Count the arguments that a function needs."""
    if isinstance(function, jnp.ufunc):
        return function.nin
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    own = inspect.signature(function).parameters.values()
    return max(1, sum(p.kind in kinds and p.default is p.empty for p in own))


def attempt(name, function, args):
    """The fault of an error, or None."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            function(*args)
    except LEGAL as error:
        return None if str(error) else f"{name}{args!r:.80}: {type(error).__name__} without text"
    except Exception as error:
        return f"{name}{args!r:.80}: {type(error).__name__}: {error!s:.120}"
    return None


def test_bad_values_are_refused_with_errors_for_users():
    good = np.ones((3, 3), np.float32)
    wrong = []
    for name, function in functions():
        count = required(function)
        for place in range(count + 1):
            for value in BAD.values():
                args = [good] * max(count, place + 1)
                args[place] = value
                wrong.append(attempt(name, function, args))
    found = [text for text in wrong if text is not None]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", sorted(SKIPPED))
def test_what_is_left_out_is_there(name):
    assert callable(getattr(jnp, name))
