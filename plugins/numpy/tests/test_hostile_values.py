"""Arrays of values that are hardly numbers: refused with the class of JAX's error, or as in JAX."""

import array as arrays
import datetime as dt
import decimal
import fractions

import numpy as np
import pytest

import bindax.numpy as jnp
from bindax import config

NAN, INF = float("nan"), float("inf")
DTYPES = (None, "bool", "int32", "uint8", "float32", "complex64")
VALUES = {
    "nan": NAN,
    "inf": INF,
    "-inf": -INF,
    "[nan]": [1.0, NAN],
    "[inf]": [[INF]],
    "1e30": 1e30,
    "-1.0": -1.0,
    "300.0": 300.0,
    "[300.0]": [300.0],
    "3.7": 3.7,
    "300": 300,
    "-1": -1,
    "[300]": [300],
    "2**40": 2**40,
    "2**63": 2**63,
    "-2**70": -(2**70),
    "[2**70]": [2**70],
    "[True, 2, 0.5]": [True, 2, 0.5],
    "1j": 1j,
    "[1, 1j]": [1, 1j],
    "a text": "a",
    "bytes": b"a",
    "[text]": ["a", 1],
    "[bytes]": [b"a"],
    "None": None,
    "[None]": [None],
    "[1, None]": [1, None],
    "ragged": [[1, 2], [3]],
    "uneven depth": [1, [2]],
    "nothing": [],
    "[nothing]": [[], []],
    "a tuple": (1, (2,)),
    "an object": object(),
    "[object]": [object()],
    "a set": {1, 2},
    "a dict": {1: 2},
    "keys": {1: 2}.keys(),
    "a range": range(3),
    "an empty range": range(0),
    "a generator": (i for i in range(3)),
    "an iterator": iter([1]),
    "a memoryview": memoryview(b"abc"),
    "a bytearray": bytearray(b"abc"),
    "an array of Python": arrays.array("h", [1, 2]),
    "a date": np.datetime64("2020-01-01"),
    "[date]": [np.datetime64("2020-01-01")],
    "dates": np.array(["2020-01-01"], "datetime64[s]"),
    "a difference": np.timedelta64(1, "s"),
    "a date of Python": dt.datetime(2020, 1, 1),
    "a structure": np.zeros(2, "i4,f4"),
    "texts": np.array(["a"]),
    "objects": np.array([1, 2], object),
    "a masked array": np.ma.array([1, 2], mask=[0, 1]),
    "a fraction": fractions.Fraction(1, 2),
    "a decimal": decimal.Decimal(1),
    "Ellipsis": ...,
    "a slice": slice(1),
    "a function": len,
    "a type": int,
}
# Where a dtype is named, NumPy converts these, and JAX with it; here they are no numbers.
STRICT = """a text,bytes,[text],[bytes],texts,an object,[object],a set,a dict,keys,a generator,
an iterator,a date,[date],dates,a difference,a date of Python,objects,Ellipsis,a slice,a function,
a type""".replace("\n", "").split(",")


def outcome(call):
    """The array that a call gives, or the classes of its error."""
    try:
        return call()
    except Exception as error:
        return [one.__name__ for one in type(error).__mro__]


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_hostile_values(dtype, jax_answers):
    wanted = jax_answers.each(
        list(VALUES),
        lambda jax: [outcome(lambda v=v: jax.numpy.array(v, dtype)) for v in VALUES.values()],
    )
    with config.override(enable_x64=True):
        got = {name: outcome(lambda v=v: jnp.array(v, dtype)) for name, v in VALUES.items()}
    wrong = []
    for (name, one), answer in zip(got.items(), wanted, strict=True):
        if name in STRICT:
            assert "TypeError" in one, (name, one)
            assert dtype is not None or "TypeError" in answer, (name, answer)
        elif isinstance(answer, list):
            if not isinstance(one, list) or answer[0] not in one:
                wrong.append((name, one, answer[0]))
        elif isinstance(one, list) or (one.dtype, one.shape, one.weak_type) != (
            answer.dtype,
            answer.shape,
            answer.weak_type,
        ):
            wrong.append((name, one, answer))
        else:
            np.testing.assert_array_equal(one, answer.array, err_msg=name)
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (NAN, ValueError, r"array: nan cannot have the dtype int32: .*give another dtype"),
        ([1.0, INF], OverflowError, r"array: \[1.0, inf\] cannot have the dtype int32"),
        (b"a", TypeError, r"array: b'a' of type bytes is no number"),
        (2**40, OverflowError, r"1099511627776 does not fit into int32; name a wider dtype"),
    ],
)
def test_what_the_errors_tell(value, kind, message):
    with pytest.raises(kind, match=message):
        jnp.array(value, "int32")
