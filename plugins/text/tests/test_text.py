"""Jaxprs as text: what is written is read back equal, or refused with the reason."""

from __future__ import annotations

import enum
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import attrs
import numpy as np
import pytest

from bindax_core import (
    Array,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    ShapedArray,
    Var,
    tree_util,
)
from bindax_core.errors import JaxprTextError
from bindax_core.extend import (
    AbstractValue,
    Effect,
    ValueType,
    as_array,
    extended_dtype,
    float0,
    primitive,
    rules,
    typeof,
)
from bindax_core.kernel._aval import register_value_type, unregister_value_type
from bindax_core.registry import _provenance
from bindax_text import _forms, jaxpr_from_text, jaxpr_to_text, register_text_form

F32 = ShapedArray((2,), np.float32)
POINT = extended_dtype('text point "<3>"', np.float32, (3,))

MODULE = """
    import enum
    from typing import NamedTuple
    from bindax_core.extend import primitive, register_text_form, rules

    @register_text_form
    class Mode(enum.Enum):
        CLIP = 1
        WRAP = 2

    @register_text_form
    class Window(NamedTuple):
        sizes: tuple[int, ...]
        mode: Mode = Mode.CLIP

    def same(operand, **params):
        return operand

    absent = [kind.absent("not needed here") for kind in
              (rules.jvp, rules.vmap, rules.transpose, rules.lowering["stablehlo"])]
    same_p = primitive("same", rules.impl(same), rules.abstract_eval(same), *absent)
    pair_p = primitive("pair", rules.impl(lambda *xs, **params: xs),
                       rules.abstract_eval(lambda *avals, **params: avals), *absent,
                       multiple_results=True)
"""


@pytest.fixture
def package(site: Any) -> Iterator[Any]:
    """An installed package ``text_sheep`` with two primitives and two classes."""
    site.distribution("text-sheep", "", "1.2.3")
    site.module("text_sheep", MODULE)
    import text_sheep

    _provenance._find.cache_clear()
    yield text_sheep
    for kind in (text_sheep.Mode, text_sheep.Window):
        _forms._forms.pop(kind, None)
    _provenance._find.cache_clear()


def program(made: Any, aval: Any = F32, **params: Any) -> ClosedJaxpr:
    """``same`` of the argument, with some parameters."""
    x, y = Var(aval), Var(aval)
    return ClosedJaxpr(Jaxpr([], [x], [y], [JaxprEqn(made, [x], [y], params)]))


def returning(*outs: Any) -> ClosedJaxpr:
    return ClosedJaxpr(Jaxpr([], [], [Literal(x, typeof(x)) for x in outs], []))


def without_checksum(text: str) -> str:
    """The text as somebody edits it who removes the second line."""
    first, second, rest = text.split("\n", 2)
    assert second.startswith("checksum ")
    return f"{first}\n{rest}"


def read_back(closed: ClosedJaxpr) -> ClosedJaxpr:
    text = jaxpr_to_text(closed)
    found = jaxpr_from_text(text)
    assert jaxpr_to_text(found) == text
    assert str(found) == str(closed)
    return found


def test_the_text_of_a_program(package: Any) -> None:
    x, y, k = Var(F32), Var(ShapedArray((), np.int64, True)), Var(F32)
    u, v = Var(F32), Var(y.aval)
    eqns = [JaxprEqn(package.pair_p, [k, y], [u, v], {"names": ("a", None)})]
    const = np.array([1, 2], np.float32)
    closed = ClosedJaxpr(Jaxpr([k], [x, y], [u, Literal(2.5, typeof(2.5))], eqns), [const])
    assert (
        without_checksum(jaxpr_to_text(closed))
        == """\
bindax jaxpr 1
uses text-sheep 1.2.3

array #0 float32[2] "AACAPwAAAEA="

program @0 (a:float32[2] = #0, b:float32[2], c:int64[]~)
  d:float32[2], e:int64[]~ = text-sheep/pair[names=("a", None)] (a, c)
  return (d, 2.5:float64[]~)
"""
    )
    found = read_back(closed)
    assert [v.aval for v in found.jaxpr.invars] == [x.aval, y.aval]
    assert found.jaxpr.eqns[0].primitive is package.pair_p
    assert type(found.consts[0]) is Array
    np.testing.assert_array_equal(found.consts[0], const)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, ..., 0, -7, 10**30, 0.1, -0.0, 1e-300, 1e22, float("inf")),
        *(
            -float("inf"),
            1 + 2j,
            complex(-0.0, float("inf")),
            "",
            'a"\\\n\u2603\ud800',
            b"",
            b"\x00x",
        ),
        *((), (1,), (1, (2, [3.0, "x"])), [], {}, {"a": 1, (2,): {}}, frozenset({3})),
        *(slice(None, 3), np.dtype("float32"), np.dtype("int8"), float0),
        *(ShapedArray((2, 0), np.bool_), ShapedArray((), np.float64, True), Effect("io", True)),
        *(np.float32(0.1), np.int8(-3), np.bool_(True), np.complex64(1 - 2j), np.longdouble(0.1)),
        *(POINT, POINT.dtype, ShapedArray((4,), POINT.dtype)),
        tree_util.tree_structure({"a": [1, (2, None)]}),
    ],
    ids=repr,
)
def test_parameters_come_back_equal_with_their_types(package: Any, value: Any) -> None:
    found = read_back(program(package.same_p, value=value)).eqns[0].params
    assert found == {"value": value}
    assert type(found["value"]) is type(value)
    assert repr(found["value"]) == repr(value)  # True is not 1, -0.0 is not 0.0


def test_the_padding_of_a_long_double_is_not_written(package: Any) -> None:
    """Python and NumPy leave in it what was in memory before."""
    texts = set()
    for rubbish in (0, 255):
        raw = np.zeros((2, np.dtype("g").itemsize), np.uint8)
        if np.finfo("g").nmant == 63:  # ten bytes of a processor of x86, and padding
            raw[:, 10:] = rubbish
        values = raw.view("g"), raw.reshape(-1).view("G")
        texts.add(jaxpr_to_text(program(package.same_p, value=values)))
    assert len(texts) == 1


def test_parameters_that_do_not_equal_themselves(package: Any) -> None:
    params = {"nan": float("nan"), "array": np.arange(3), "empty": np.zeros((0, 3))}
    found = read_back(program(package.same_p, **params)).eqns[0].params
    assert np.isnan(found["nan"])
    for name in ("array", "empty"):
        assert type(found[name]) is np.ndarray
        assert found[name].dtype == params[name].dtype
        np.testing.assert_array_equal(found[name], params[name])


def test_parameters_of_classes_and_primitives(package: Any) -> None:
    params = {"window": package.Window((2, 3), package.Mode.WRAP), "of": package.pair_p}
    closed = program(package.same_p, **params)
    assert 'text-sheep/Window(sizes=(2, 3), mode=text-sheep/Mode(name="WRAP"))' in jaxpr_to_text(
        closed
    )
    assert read_back(closed).eqns[0].params == params


def test_a_field_with_a_default_may_be_newer_than_the_text(package: Any) -> None:
    text = without_checksum(jaxpr_to_text(program(package.same_p, w=package.Window((2,)))))
    older = text.replace(', mode=text-sheep/Mode(name="CLIP")', "")
    assert older != text
    assert jaxpr_from_text(older).eqns[0].params == {"w": package.Window((2,))}


@pytest.mark.parametrize(
    "value",
    [
        *(2, 2.5, True, 1j, np.float32(0.1), np.float16(65504), np.uint8(255), np.array(3.0)),
        *(np.float64("nan"), np.float64("-nan"), np.array(["nan"], "f4")[0], np.complex64(-0.0)),
        *(Array.from_numpy(np.array(2.0), ShapedArray((), np.float64, True)), np.zeros((2, 0))),
        Array.from_numpy(np.zeros((), POINT.dtype)),
        Array.from_numpy(np.ones((2, 3), np.float32).view(POINT.dtype)[..., 0]),
        *(np.arange(6.0).reshape(2, 3).T, np.array([True, False]), np.zeros(3, float0)),
    ],
    ids=repr,
)
def test_literals_keep_type_and_bits(value: Any) -> None:
    (found,) = read_back(returning(value)).jaxpr.outvars
    assert found.aval == typeof(value)
    assert typeof(found.val) == typeof(value)
    assert found.val.numpy().tobytes() == as_array(value).numpy().tobytes()


def test_programs_among_parameters_are_shared(package: Any) -> None:
    inner = program(package.same_p)
    outer = program(package.same_p, branches=(inner, inner, program(package.same_p)))
    first, second, third = read_back(outer).eqns[0].params["branches"]
    assert first is second
    assert first is not third


def test_many_levels_of_shared_programs_take_no_time(package: Any) -> None:
    closed = program(package.same_p)
    for _ in range(60):
        closed = program(package.same_p, branches=(closed, closed))
    start = time.thread_time()  # others may keep the processor busy
    found = jaxpr_from_text(jaxpr_to_text(closed))
    assert time.thread_time() - start < 5.0
    assert len(found.eqns[0].params["branches"]) == 2


def test_arrays_are_shared() -> None:
    x = Array.from_numpy(np.ones(3))
    text = without_checksum(jaxpr_to_text(returning(x, x)))
    assert text.count("array") == 1
    first, second = jaxpr_from_text(text).jaxpr.outvars
    assert first.val is second.val  # type: ignore[union-attr]


# ------------------------------------------------------------------------------ text forms


class Color(enum.Enum):
    RED = 1


class Size(NamedTuple):
    width: int


@attrs.frozen
class Weight:
    _grams: float


@dataclass(frozen=True)
class Age:
    years: int


class Opaque:
    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"Opaque({self.number})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)


@pytest.fixture
def forms(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Register classes of this module as if the distribution bindax-core had them."""
    monkeypatch.setattr(_forms, "_forms", dict(_forms._forms))
    monkeypatch.setattr(_forms, "caller_site", lambda: _forms.Site("bindax_core", "test", 1))
    return register_text_form


@pytest.mark.parametrize("value", [Color.RED, Size(3), Weight(2.5), Age(4), Opaque(5)])
def test_classes_of_each_sort(package: Any, forms: Any, value: Any) -> None:
    custom: Any = {}
    if isinstance(value, Opaque):
        custom = {"write": lambda x: {"n": x.number}, "read": lambda n: Opaque(n)}
    assert forms(type(value), **custom) is type(value)
    found = read_back(program(package.same_p, x=value, again=(value,))).eqns[0].params
    assert found == {"x": value, "again": (value,)}


def test_a_class_needs_a_form_and_has_one(forms: Any) -> None:
    with pytest.raises(TypeError, match="Opaque is no enumeration, named tuple, attrs class or"):
        forms(Opaque)
    with pytest.raises(TypeError, match="needs both write and read"):
        forms(Opaque, write=vars)
    forms(Color)
    with pytest.raises(ValueError, match="test_text:Color has a text form already"):
        forms(Color)
    with pytest.raises(ValueError, match=r"name 'Color' is taken in bindax_core by the class Col"):
        forms(Size, name="Color")


def test_a_class_that_is_defined_again_takes_the_place_of_the_former(forms: Any) -> None:
    made = [enum.Enum("Side", "LEFT", qualname="Side") for _ in range(2)]
    for one in made:
        forms(one)
    assert _forms.form_of(made[0]) is None
    assert _forms.form_of(made[1]) is not None


def test_classes_that_entry_points_declare(site: Any) -> None:
    forms = "[bindax.v1.text_forms]\nWool = text_ram:Fleece\nTail = text_ram:Tail\n"
    classes = """
class Fleece(enum.Enum):
    WHITE = 1

class Tail:
    def __init__(self, length):
        self.length = length
    def text_fields(self):
        return {"length": self.length}
    @staticmethod
    def from_text_fields(length):
        return Tail(int(length))
"""
    site.distribution("text-ram", f"[bindax.v1]\nram = text_ram\n{forms}", "1.2.3")
    site.module("text_ram", textwrap.dedent(MODULE).replace("@register_text_form\n", "") + classes)
    import text_ram

    params = {"wool": text_ram.Fleece.WHITE, "tail": text_ram.Tail(3)}
    text = jaxpr_to_text(program(text_ram.same_p, **params))
    assert 'wool=text-ram/Wool(name="WHITE"), tail=text-ram/Tail(length=3)' in text
    for kind in (text_ram.Fleece, text_ram.Tail):
        with pytest.raises(ValueError, match="has a text form already, registered in text_ram:"):
            register_text_form(kind)
        del _forms._forms[kind]
    found = jaxpr_from_text(text).eqns[0].params
    assert found["wool"] is text_ram.Fleece.WHITE
    assert found["tail"].length == 3
    for kind in (text_ram.Fleece, text_ram.Tail):
        del _forms._forms[kind]


class Clock(AbstractValue):
    def str_short(self) -> str:
        return "clock"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clock)

    def __hash__(self) -> int:
        return 1


@attrs.frozen
class Time:
    hour: Any


def test_types_and_values_of_other_packages(package: Any, forms: Any) -> None:
    forms(Clock, write=lambda x: {}, read=Clock)
    forms(
        Time,
        write=lambda x: {"hour": Array.from_numpy(np.array(x.hour))},
        read=lambda hour: Time(int(hour)),
    )
    value_type = ValueType(Time, lambda x: Clock())
    register_value_type(value_type)
    try:
        k, x = Var(Clock()), Var(Clock())
        closed = ClosedJaxpr(Jaxpr([k], [x], [k, x, Literal(Time(3), Clock())], []), [Time(4)])
        text = jaxpr_to_text(closed)
        assert "a:bindax-core/Clock() = bindax-core/Time(hour=4:int64[])" in text
        found = jaxpr_from_text(text)
        assert found.consts == [Time(4)]
        assert found.jaxpr.outvars[2].val == Time(3)  # type: ignore[union-attr]
        assert found.in_avals == [Clock()]
    finally:
        unregister_value_type(value_type)


# --------------------------------------------------------------------- refused when written


def test_what_cannot_be_written_is_named(package: Any) -> None:
    def callback(x: Any) -> Any:
        return x

    cases: list[tuple[dict[str, Any], str]] = [
        (
            {"f": callback},
            r"same, parameter 'f': a text has no Python code, such as callback \(.*_text.py:\d+\)",
        ),
        ({"xs": (1, [int])}, "parameter 'xs': a text has no Python code, such as int"),
        ({"x": Opaque(3)}, "'x': a .*test_text.Opaque has no text form. .*register_text_form"),
        ({"n": 10**5000}, "parameter 'n': an integer is too long"),
        ({"d": np.dtype(">f4")}, r"parameter 'd': the dtype dtype\('>f4'\) has no text form"),
        ({"w": package.Window(callback)}, "in a text_sheep.Window: a text has no Python code"),
        (
            {"p": program(package.same_p, f=callback)},
            "same, parameter 'p': text-sheep/same, parameter 'f': a text has no Python code",
        ),
    ]
    deep: Any = ()
    for _ in range(60):
        deep = (deep,)
    cases.append(({"deep": deep}, "parameter 'deep': it is nested more than 50 levels deep"))
    for params, message in cases:
        with pytest.raises(JaxprTextError, match=message):
            jaxpr_to_text(program(package.same_p, **params))


def test_a_primitive_of_no_distribution_cannot_be_written(package: Any) -> None:
    own_p = primitive(
        "text.own",
        rules.impl(lambda x: x),
        rules.abstract_eval(lambda x: x),
        rules.jvp.absent("a test"),
        rules.vmap.absent("a test"),
        rules.transpose.absent("a test"),
        rules.lowering["stablehlo"].absent("a test"),
    )
    message = r"the primitive 'text.own', declared in .*test_text.py.* belongs to no installed"
    with pytest.raises(JaxprTextError, match=message):
        jaxpr_to_text(program(own_p))


def test_only_closed_programs_are_written() -> None:
    with pytest.raises(JaxprTextError, match=r"only a ClosedJaxpr .* got a .*Jaxpr\. make_jaxpr"):
        jaxpr_to_text(returning(1.0).jaxpr)  # type: ignore[arg-type]


# ------------------------------------------------------------------------ refused when read

BODY = """
program @0 (a:float32[2])
  b:float32[2] = text-sheep/same[k=1] (a)
  return (b)
"""
HEAD = "bindax jaxpr 1\nuses text-sheep 1.2.3\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bindax jaxpr 1", "jax jaxpr 1", "line 1: a jaxpr as text begins with 'bindax jaxpr 1'"),
        ("jaxpr 1", "jaxpr 2", "line 1: the text has version 2 of the format, .* reads version 1"),
        ("text-sheep 1", "text-goat 1", "line 2: .* needs the distribution text-goat 1.2.3, which"),
        (
            "1.2.3",
            "1.3",
            "line 2: .* text-sheep 1.3, and 1.2.3 is installed, .*not compatible: install text-sh",
        ),
        (
            "uses text-sheep 1.2.3\n",
            "",
            "line 4: .* is of a distribution that no line",
        ),
        ("uses text-sheep 1.2.3\n", "uses text-sheep 1.2.3\n" * 2, "line 3: .* is named twice"),
        ("/same", "/shear", "line 5: text-sheep 1.2.3 has no primitive 'shear'"),
        ("k=1", "k=text-sheep/Wool()", "line 5: text-sheep 1.2.3 has no class 'Wool' with a text"),
        ("k=1", "k=text-sheep/Mode(name=3)", "line 5: text-sheep/Mode is damaged: KeyError: 3"),
        ("k=1", "k=text-sheep/Window(y=3)", "line 5: text-sheep/Window is damaged: TypeError: .*y"),
        ("k=1", "k=eval", "line 5: expected a value, found 'eval'"),
        ("k=1", "k=1, k=1", "line 5: 'k' is given twice"),
        ("k=1", "k={1=2, 1=3}", "line 5: the key 1 is given twice"),
        ("k=1", "k={[]=2}", "line 5: the key of a dict: TypeError: .*unhashable"),
        ("k=1", "k=@0", "line 5: expected the mark of an earlier definition, found '@0'"),
        ("k=1", f"k={'(' * 200}", "line 5: values are nested more than 100 levels deep"),
        ("k=1", f"k={'9' * 5000}", "line 5: a number is damaged: ValueError"),
        ("k=1", 'k="\\x"', "line 5: a string is damaged"),
        ("k=1", 'k=treedef("{}")', "line 5: .* is not a serialized tree definition"),
        ("k=1", "k=complex(1, 2.0)", "line 5: a complex number has two parts such as 1.0"),
        ("k=1", "k=slice(1, 2)", "line 5: a slice has three parts"),
        ("k=1", 'k=bytes("0")', "line 5: bytes are damaged"),
        ("k=1", "k=numpy(1)", "line 5: expected a number with a type, or an array"),
        ("k=1", "k=dtype(float63)", "line 5: there is no dtype 'float63' here"),
        ("k=1", 'k=extended("", int8[2])', "line 5: '' is no extended dtype"),
        ("k=1", 'k=extended("a", int8[])', "line 5: 'a' is no extended dtype"),
        ("k=1", 'k=extended("a", int8[0])', "line 5: 'a' is no extended dtype"),
        ("k=1", 'k=extended("a", int8[9999999999])', "line 5: an extended dtype is damaged"),
        ("k=1", "k=dtype(object)", "line 5: there is no dtype 'object' here"),
        ("k=1]", "k=1", r"line 5: expected ',', found '\('"),
        ("(a)\n  return", "(c)\n  return", "line 5: expected a value, found 'c'"),
        ("(a)\n  return", "(a, a)\n  return", "line 7: .*not well typed: equation 0 .same"),
        ("(a)\n  return", "(2.0:int32[])\n  return", r"line 5: 2.0 is no int32\[\]"),
        ("(a)\n  return", "(2.0)\n  return", "line 5: a float is no operand|not well typed"),
        ("b:float32[2]", "b:float32[3]", r"line 7: .*not well typed: equation 0 \(same\) binds"),
        ("b:float32[2]", "a:float32[2]", "line 5: expected the name of a new variable, found 'a'"),
        ("b:float32[2]", "b:float32[-2]", "line 5: expected the size of an axis, found '-2'"),
        ("return (b)\n", "return (b)\nx", "line 7: expected 'program' or the end .* found 'x'"),
        ("  return (b)\n", "", "line 6: expected .*, found the end of the text"),
        (BODY, "", "expected 'program', found the end of the text"),
        ("program", 'array #0 float32[2] "AAAA"\nprogram', r"line 5: an array is damaged: float32"),
        ("program", 'array #0 float32[2] "A?"\nprogram', "line 5: an array is damaged"),
        ("program", 'array #0 bool[1] "Ag=="\nprogram', "line 5: .* a boolean is neither 0 nor 1"),
        ("program", 'array #0 int8[10000000000] "AA=="\nprogram', "damaged: int8.* has 1 bytes"),
    ],
)
def test_what_cannot_be_read(package: Any, old: str, new: str, message: str) -> None:
    text = HEAD + BODY
    assert old in text
    assert without_checksum(jaxpr_to_text(jaxpr_from_text(text))) == text
    with pytest.raises(JaxprTextError, match=f"(?s){message}"):
        jaxpr_from_text(text.replace(old, new))


def test_a_changed_text_is_refused_unless_its_checksum_is_removed(package: Any) -> None:
    text = jaxpr_to_text(jaxpr_from_text(HEAD + BODY))
    changed = text.replace("[k=1]", "[k=2]")
    message = (
        r"line 2: the text was changed after it was written: it does not have this checksum\. If "
        r"the change is yours, remove line 2; otherwise write the program anew\."
    )
    with pytest.raises(JaxprTextError, match=message):
        jaxpr_from_text(changed)
    assert jaxpr_from_text(without_checksum(changed)).eqns[0].params == {"k": 2}


def test_every_changed_character_is_noticed(package: Any) -> None:
    array = 'array #0 float32[2] "AACAPwAAAEA="\nprogram'
    edited = (HEAD + BODY).replace("program", array).replace("same[k=1] (a)", "same[k=1] (#0)")
    text = jaxpr_to_text(jaxpr_from_text(edited))
    second = text.index("\n") + 1
    for i, old in enumerate(text):
        for new in ("", "0" if old != "0" else "1", old + old):
            with pytest.raises(JaxprTextError):
                jaxpr_from_text(text[:i] + new + text[i + 1 :])
        if not second <= i < text.index("\n", second):
            with pytest.raises(JaxprTextError):
                jaxpr_from_text(text[:i])


def test_any_version_is_read_when_asked(package: Any) -> None:
    text = (HEAD + BODY).replace("1.2.3", "2.0")
    assert len(jaxpr_from_text(text, any_version=True).eqns) == 1


def test_only_text_is_read() -> None:
    with pytest.raises(JaxprTextError, match="the text of a jaxpr is a str, got a bytes"):
        jaxpr_from_text(b"bindax jaxpr 1")  # type: ignore[arg-type]


def test_reading_loads_the_plugins_that_a_text_needs(site: Any) -> None:
    manifest = "[bindax.v1.primitives]\nsame = text_goat:same_p\n"
    hook = "\n    @hookimpl\n    def bindax_primitives():\n        return [same_p]\n"
    site.plugin("text_goat", MODULE + hook, manifest, "1.2.3")
    text = (HEAD + BODY).replace("text-sheep", "text-goat-dist")
    assert jaxpr_from_text(text).eqns[0].primitive.name == "same"


def test_a_plugin_that_fails_is_the_reason(site: Any) -> None:
    site.plugin("text_wolf", "raise ValueError('it bites')", "", "1.2.3")
    text = (HEAD + BODY).replace("text-sheep", "text-wolf-dist")
    message = "line 2: the program needs the distribution text-wolf-dist: .* it bites"
    with pytest.warns(match="it bites"), pytest.raises(JaxprTextError, match=message):
        jaxpr_from_text(text)


def test_a_program_that_a_newer_release_wrote_is_refused() -> None:
    from bindax_text._distributions import is_compatible

    accepted = [("1.2", "1.2.0"), ("1.2", "1.9"), ("0.3.1", "0.3.2"), ("0.0.4", "0.0.4.post1")]
    refused = [("1.2", "1.1"), ("1.2", "2.0"), ("0.3", "0.4"), ("0.0.4", "0.0.5"), ("x", "1.0")]
    assert all(is_compatible(*pair) for pair in accepted)
    assert not any(is_compatible(*pair) for pair in refused)
