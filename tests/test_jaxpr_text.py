"""Jaxprs as text, with the primitives of all packages; and damaged texts."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bindax
from bindax import lax
from bindax_control_flow import cond, scan, while_loop
from bindax_core import (
    Array,
    ClosedJaxpr,
    Literal,
    Var,
    eval_jaxpr,
    jaxpr_as_fun,
    jaxpr_from_text,
    jaxpr_to_text,
)
from bindax_core.errors import DerivedRuleNotice, JaxprTextError
from bindax_testing._subjects import subject_of
from bindax_transforms import checkpoint, custom_jvp, grad, jit, jvp, make_jaxpr, vmap

EXAMPLES = int(os.environ.get("BINDAX_DAMAGED_TEXTS", "100"))


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with bindax.config.override(backend="numpy"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DerivedRuleNotice)
        yield


# ------------------------------------------------------------------------------ comparison


def difference(one: ClosedJaxpr, other: ClosedJaxpr) -> str:
    """Where two programs differ, or an empty string; written apart from what is tested."""
    number: dict[Var, int] = {}
    for variables in zip(
        (*one.jaxpr.constvars, *one.jaxpr.invars),
        (*other.jaxpr.constvars, *other.jaxpr.invars),
        strict=True,
    ):
        if variables[0].aval != variables[1].aval:
            return f"arguments {variables}"
        for v in variables:
            number[v] = len(number) // 2
    if len(one.jaxpr.constvars) != len(other.jaxpr.constvars):
        return "the number of constants"
    for pair in zip(one.consts, other.consts, strict=True):
        if not same_array(*pair):
            return f"constants {pair}"

    def same_atom(a: Any, b: Any) -> bool:
        if isinstance(a, Literal):
            return isinstance(b, Literal) and a.aval == b.aval and same_array(a.val, b.val)
        return isinstance(b, Var) and number[a] == number[b]

    for eqn, again in zip(one.eqns, other.eqns, strict=True):
        if eqn.primitive is not again.primitive or not same_value(eqn.params, again.params):
            return f"equations {eqn} and {again}"
        if not all(map(same_atom, eqn.invars, again.invars)):
            return f"operands of {eqn} and {again}"
        for variables in zip(eqn.outvars, again.outvars, strict=True):
            if variables[0].aval != variables[1].aval:
                return f"results {variables}"
            for v in variables:
                number[v] = len(number) // 2
    if one.jaxpr.effects != other.jaxpr.effects:
        return "effects"
    return "" if all(map(same_atom, one.jaxpr.outvars, other.jaxpr.outvars)) else "results"


def same_array(one: Any, other: Any) -> bool:
    a, b = (x.numpy() if isinstance(x, Array) else np.asarray(x) for x in (one, other))
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_value(one: Any, other: Any) -> bool:
    if isinstance(one, ClosedJaxpr):
        return isinstance(other, ClosedJaxpr) and not difference(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict):
        return [*one] == [*other] and all(map(same_value, one.values(), other.values()))
    return repr(one) == repr(other) and (one == other or one != one)  # nan


# -------------------------------------------------------------------------- every primitive

UNWRITABLE = [
    "/custom_jvp_call, parameter 'call': ",
    "/custom_vjp_call, parameter 'call': ",
    "/custom_vmap_call, parameter 'call': ",
    "/inspect_sharding, parameter 'callback': ",
    "/sharding_constraint, parameter 'sharding': ",
    "/debug_callback, parameter 'callback': ",
    "/io_callback, parameter 'callback': ",
    "/pure_callback, parameter 'callback': ",
    "/checkpoint, parameter 'policy': ",
]
"""The parameters that hold Python code, or devices."""


PLUGINS = ("lax_basic", "linalg", "special", "control_flow", "callbacks", "transforms")


@pytest.mark.parametrize("plugin", PLUGINS)
def test_every_sample_is_read_back_equal(plugin: str) -> None:
    written = refused = 0
    for sample in subject_of(plugin).samples:
        operands = sample.draw(0, 0)
        closed = make_jaxpr(sample.call)(*operands)
        try:
            text = jaxpr_to_text(closed)
        except JaxprTextError as error:
            if not any(place in str(error) for place in UNWRITABLE):
                raise
            refused += 1
            continue
        found = jaxpr_from_text(text)
        assert not difference(closed, found), sample.label
        assert jaxpr_to_text(found) == text, sample.label
        outs = eval_jaxpr(closed.jaxpr, closed.consts, *operands)
        again = eval_jaxpr(found.jaxpr, found.consts, *operands)
        assert all(map(same_array, outs, again)), sample.label
        written += 1
    assert refused == 0 or plugin != "lax_basic"
    assert written > 0 or plugin == "callbacks"


# ----------------------------------------------------------------------- whole programs

X = np.linspace(0.5, 2.0, 3, dtype=np.float32)


def loops(x: Any) -> Any:
    """Loops, branches and calls in one another, with constants."""

    def step(carry: Any, row: Any) -> Any:
        carry = cond(carry.sum() > 3.0, lambda c: c * row, lambda c: lax.sin(c) + 1.0, carry)
        return carry, jit(lambda c: c[::-1] * X)(carry)

    carry, rows = scan(step, x, np.arange(6, dtype=np.float32).reshape(2, 3))
    return while_loop(lambda c: c.sum() < 10.0, lambda c: c * 2.0 + rows[0], carry), rows


PROGRAMS = {
    "loops": (loops, X),
    "forward": (lambda x: jvp(loops, (x,), (x,)), X),
    "reverse": (grad(lambda x: checkpoint(lambda y: lax.exp(-y).sum())(x) * 2.0), X),
    "batch": (vmap(lambda x: x.at[1].add(2.0) @ X), np.ones((2, 3), np.float32)),
    "dtypes": (lambda x: (x.astype("bfloat16"), lax.fft(x.astype("complex64"), "fft", (3,))), X),
    "numbers": (lambda x, n: (x * n, n + 1, True, None, 1j * x), X, 3),
}


def program(name: str) -> ClosedJaxpr:
    function, *args = PROGRAMS[name]
    return make_jaxpr(function)(*args)


def test_random_keys_are_written() -> None:
    random = pytest.importorskip("bindax_random")
    key = random.key(7)
    fixed = random.fold_in(key, 3)
    closed = make_jaxpr(lambda k: random.normal(fixed, (2,)) + random.uniform(k))(key)
    found = jaxpr_from_text(jaxpr_to_text(closed))
    assert not difference(closed, found)
    args = (closed.jaxpr, closed.consts, key), (found.jaxpr, found.consts, key)
    assert all(map(same_array, *[eval_jaxpr(*each) for each in args]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_transformed_programs_are_read_back_equal(name: str) -> None:
    closed = program(name)
    found = jaxpr_from_text(jaxpr_to_text(closed))
    assert not difference(closed, found)
    args = PROGRAMS[name][1:]
    outs = eval_jaxpr(closed.jaxpr, closed.consts, *args)
    again = eval_jaxpr(found.jaxpr, found.consts, *args)
    assert all(map(same_array, outs, again))


def test_a_program_that_was_read_is_transformed_like_any_other() -> None:
    found = jaxpr_as_fun(jaxpr_from_text(jaxpr_to_text(make_jaxpr(lambda x: lax.sin(x).sum())(X))))
    np.testing.assert_allclose(grad(lambda x: found(x)[0])(X), np.cos(X), rtol=1e-6)
    batch = np.stack([X, 2 * X])
    np.testing.assert_allclose(vmap(found)(batch)[0], np.sin(batch).sum(1), rtol=1e-6)


def test_a_custom_rule_is_refused_with_the_way_to_it() -> None:
    @custom_jvp
    def twice(x: Any) -> Any:
        return x * 2.0

    twice.defjvp(lambda primals, tangents: (twice(*primals), tangents[0] * 2.0))
    message = (
        r"bindax-transforms/jit, parameter 'jaxpr': bindax-transforms/custom_jvp_call, "
        r"parameter 'call': a .*CustomJVPCall has no text form. If it holds Python code"
    )
    with pytest.raises(JaxprTextError, match=message):
        jaxpr_to_text(make_jaxpr(jit(twice))(X))


def test_a_fresh_process_reads_what_it_needs(tmp_path: Path) -> None:
    file = tmp_path / "program.txt"
    file.write_text(jaxpr_to_text(program("loops")), encoding="utf-8")
    code = """
        import sys
        from pathlib import Path
        from bindax_core import eval_jaxpr, jaxpr_as_fun, jaxpr_from_text
        import numpy as np
        assert "bindax_lax_basic" not in sys.modules and "bindax_transforms" not in sys.modules
        closed = jaxpr_from_text(Path(sys.argv[1]).read_text(encoding="utf-8"))
        outs = eval_jaxpr(closed.jaxpr, closed.consts, np.ones(3, np.float32))
        print([x.shape for x in outs])
    """
    run = [sys.executable, "-c", textwrap.dedent(code), str(file)]
    result = subprocess.run(run, capture_output=True, text=True, check=True)
    assert result.stdout == "[(3,), (2, 3)]\n"


# ------------------------------------------------------------------------- damaged texts

HOSTILE = (
    *("(" * 300, "[" * 300, "{" * 300, "9" * 300, "1e999", "-inf", "nan", "#0", "@0", "@1", "~"),
    *("float32[9,9,9,9,9,9,9,9]", "float32[999999999999999999]", "int8[1]", "bfloat16[]", "bool[]"),
    *("1000000000000", "-1", "(1000000000, 1000000000)", "None", "True", "2.5:float32[]", "()"),
    *("bindax-core/Effect(name=1)", 'bindax-lax-basic/GatherScatterMode(name="CLIP")', "\x00"),
    *("primitive(bindax-lax-basic/add)", "dtype(float0)", "type(int4[2])", "frozenset([])", "\n"),
    *('extended("key<fry>", uint32[2])', 'extended("float0", int8[1])[2]', "extended"),
    *("uses numpy 2.0\n", "uses bindax-transforms 0.1.0\n", "return (a)", "program @0 ()\n", "="),
)


@st.composite
def damaged_texts(draw: Any) -> str:
    """A text with some words of texts, or hostile ones, put in or in the place of others."""
    texts = WRITTEN["texts"]
    text: str = draw(st.sampled_from(texts))
    words = sorted(set(re.findall(r"[\w.:/-]+|\S", draw(st.sampled_from(texts)))))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        length = draw(st.sampled_from((0, 0, 1, 2, 5, 20, 200)))
        new = draw(st.sampled_from(HOSTILE) | st.sampled_from(words) | st.text(max_size=3))
        if draw(st.booleans()):  # whole words, so that the change is not only to spelling
            found = re.compile(r"[\w.:/-]+|\S").search(text, start)
            start, length = (start, 0) if found is None else (found.start(), len(found[0]))
        text = text[:start] + new + text[start + length :]
    return text


WRITTEN: dict[str, list[str]] = {}


@pytest.fixture
def written() -> None:
    """Write the texts to damage, once."""
    if not WRITTEN:
        chosen = [one for one in subject_of("lax_basic").samples if one.operands][::60]
        samples = [make_jaxpr(one.call)(*one.draw(0, 0)) for one in chosen]
        closed = [*map(program, PROGRAMS), *samples]
        texts = [jaxpr_to_text(one) for one in closed]
        # Without the checksum, so that what reads the words is what refuses them.
        WRITTEN["texts"] = [re.sub("checksum .*\n", "", text, count=1) for text in texts]


@pytest.mark.usefixtures("written")
@settings(
    max_examples=EXAMPLES,
    derandomize=EXAMPLES <= 100,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=damaged_texts())
def test_damaged_texts_are_read_or_refused(text: str) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    with suppress(JaxprTextError):
        assert isinstance(jaxpr_from_text(text), ClosedJaxpr)
    assert time.process_time() - start < 2.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 200_000  # KiB
