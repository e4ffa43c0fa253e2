"""``bindax.compare`` finds planted differences at the right equation."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax
from bindax.extend import primitive, rules

pytest.importorskip("jaxlib", reason="compares with a compiler")

Mistake = Callable[[Any], Any]
MISTAKES: dict[str, Mistake] = {
    "none": lambda x: x,
    "one part in a thousand": lambda x: x * x.dtype.type(1.001),
    "above 2.5": lambda x: jnp.where(x > 2.5, x * x.dtype.type(1.01), x),
    "nan": lambda x: jnp.where(jnp.arange(x.size).reshape(x.shape) == 2, np.nan, x),
    "infinity": lambda x: jnp.where(x == x.max(), np.inf, x),
    "few bits": lambda x: x.astype(jnp.bfloat16).astype(x.dtype),
    "one bit": lambda x: jnp.round(x * 2**22) / 2**22,
    "sign": lambda x: -x,
    "one more": lambda x: x + 1,
    "not": jnp.logical_not,
    "conjugate": jnp.conj,
    "rows": lambda x: x[::-1],
}


def _planted(x: Any, side: str, kind: str, here: str) -> Any:
    return MISTAKES[kind if side == here else "none"](x)


def _impl(x: Any, *, side: str, kind: str) -> Any:
    with bindax.config.override(backend="numpy"):
        return np.asarray(_planted(jnp.asarray(x), side, kind, "impl")).astype(x.dtype)


def _lowering(ctx: Any, x: Any, *, side: str, kind: str) -> Any:
    (aval,) = ctx.avals_in
    closed = bindax.make_jaxpr(lambda x: _planted(x, side, kind, "lowering").astype(x.dtype))(aval)
    return ctx.inline(closed, [x])[0]


def _jvp(primals: Any, tangents: Any, *, side: str, kind: str) -> Any:
    if side == "backward":  # right in the forward pass
        return primals[0], planted_p.bind(*tangents, side="lowering", kind=kind)
    return planted_p.bind(*primals, side=side, kind=kind), tangents[0]


planted_p = primitive(
    "test.planted",
    rules.impl(_impl),
    rules.abstract_eval(lambda x, **params: x),
    rules.jvp(_jvp),
    rules.vmap(
        lambda size, operands, dims, **params: (planted_p.bind(*operands, **params), dims[0])
    ),
    rules.transpose(lambda ct, x, **params: [planted_p.bind(ct, **params)]),
    rules.lowering["stablehlo"](_lowering),
)
pair_p = primitive(
    "test.pair",
    rules.impl(lambda x: [x, x]),
    rules.abstract_eval(lambda x: [x, x]),
    rules.lowering["stablehlo"](
        lambda ctx, x: [x, ctx.op("stablehlo.negate", [x], ctx.avals_in)[0]]
    ),
    *[kind.absent("no test asks for it") for kind in (rules.jvp, rules.transpose, rules.vmap)],
    multiple_results=True,
)


def plant(x: Any, kind: str = "one part in a thousand", side: str = "lowering") -> Any:
    return planted_p.bind(x, side=side, kind=kind)


X = np.linspace(0.5, 1.5, 5, dtype=np.float32)


class Case(NamedTuple):
    """A program with one mistake, and where it is."""

    f: Callable[..., Any]
    path: tuple[str, ...] = ()
    primitive: str = "test.planted"
    args: tuple[Any, ...] = (X,)
    options: Mapping[str, Any] = MappingProxyType({})


def in_jit(x: Any) -> Any:
    return bindax.jit(lambda y: plant(jnp.sin(y)) * 2.0)(x + 1.0)


def three_deep(x: Any) -> Any:
    inner = bindax.jit(plant)
    return bindax.jit(lambda y: bindax.jit(lambda z: inner(z) + z)(y) * y)(x)


def in_scan(x: Any) -> Any:
    def step(carry: Any, a: Any) -> Any:
        carry = plant(carry + a, "above 2.5")
        return carry, jnp.cos(carry)

    return lax.scan(step, np.float32(0.0), x)


def in_reverse_scan(x: Any) -> Any:
    return lax.scan(lambda c, a: (c, plant(a)), 0.0, x, reverse=True)[1]


def in_while(x: Any) -> Any:
    def body(state: Any) -> Any:
        i, y = state
        return i + 1, plant(y * 1.5, "above 2.5")

    return lax.while_loop(lambda state: state[0] < 4, body, (0, x[0] * 2))


def in_condition(x: Any) -> Any:
    return lax.while_loop(lambda y: plant(y < 3.0, "not"), lambda y: y * 2.0, x[0])


def in_cond(x: Any) -> Any:
    return lax.cond(x[0] > 0, lambda y: plant(y) + 1.0, lambda y: y, x)


def in_switch(x: Any) -> Any:
    return lax.switch(2, [jnp.sin, jnp.cos, plant], x)


def nested(x: Any) -> Any:
    def step(c: Any, a: Any) -> Any:
        return lax.cond(a > 1.2, lambda v: v + plant(a), lambda v: v + a, c), a

    return lax.while_loop(
        lambda s: s[0] < 2, lambda s: (s[0] + 1, lax.scan(step, s[1], x)[0]), (0, np.float32(0))
    )


@bindax.custom_jvp
def with_jvp(x: Any) -> Any:
    return plant(x)


@bindax.custom_vjp
def with_vjp(x: Any) -> Any:
    return plant(x)


with_jvp.defjvp(lambda primals, tangents: (with_jvp(*primals), tangents[0]))
with_vjp.defvjp(lambda x: (with_vjp(x), x), lambda x, ct: (ct * x,))
CANCELLATION = {"a": "float32", "b": "float64"}
INTEGERS = (np.arange(4),)

CASES = {
    "a wrong lowering": Case(lambda x: jnp.sin(plant(jnp.cos(x)))),
    "a wrong impl": Case(lambda x: plant(x, side="impl")),
    "a nan": Case(lambda x: plant(x, "nan")),
    "an infinity": Case(lambda x: plant(x, "infinity")),
    "few bits": Case(lambda x: plant(jnp.exp(x), "few bits")),
    "one bit": Case(lambda x: plant(jnp.sqrt(x), "one bit"), options={"rtol": 1e-7}),
    "a sign": Case(lambda x: plant(x, "sign", "impl")),
    "integers": Case(lambda n: plant(n * 2, "one more"), args=INTEGERS),
    "booleans": Case(lambda n: plant(n > 2, "not"), args=INTEGERS),
    "complex numbers": Case(lambda z: plant(z, "conjugate"), args=(np.complex64([1 + 2j]),)),
    "an order": Case(lambda x: plant(x, "rows")),
    "the second result": Case(lambda x: pair_p.bind(jnp.sin(x)), primitive="test.pair"),
    "jit": Case(in_jit, ("jit of <lambda>",)),
    "three jits": Case(three_deep, ("jit of <lambda>", "jit of <lambda>", "jit of plant")),
    "scan": Case(in_scan, ("scan, step 3",)),
    "reverse scan": Case(in_reverse_scan, ("scan, step 0",)),
    "while": Case(in_while, ("while, round 2",)),
    "condition": Case(in_condition, ("condition of while, round 0",)),
    "cond": Case(in_cond, ("cond, branch 1",)),
    "switch": Case(in_switch, ("cond, branch 2",)),
    "nested": Case(nested, ("while, round 0", "scan, step 3", "cond, branch 1")),
    "custom_jvp": Case(with_jvp, ("custom_jvp_call of with_jvp",)),
    "custom_vjp": Case(with_vjp, ("custom_vjp_call of with_vjp",)),
    "checkpoint": Case(bindax.checkpoint(lambda x: plant(x)), ("checkpoint",)),
    "vmap": Case(bindax.vmap(lambda x: plant(x * 2.0)), args=(np.ones((3, 2), np.float32),)),
    "backward": Case(bindax.grad(lambda x: plant(jnp.sin(x), side="backward").sum())),
    "eager and compiled": Case(
        in_jit, ("jit of <lambda>",), options={"a": "eager", "b": "compiled"}
    ),
    "digits": Case(lambda x: (x * 1e-7 + 1.0) - 1.0, primitive="sub", options=CANCELLATION),
}


@pytest.mark.parametrize("name", CASES)
def test_planted_differences_are_found(name: str) -> None:
    case = CASES[name]
    found = bindax.compare(case.f, case.args, **{"a": "numpy", "b": "xla", **case.options})
    assert found.difference is not None, found
    assert found.difference.primitive == case.primitive
    paths = tuple(re.sub(r" \(.*\)", "", part) for part in found.difference.path)
    assert paths == case.path
    line = plant.__code__.co_firstlineno + 1
    if case.primitive == "test.planted" and name not in ("backward", "vmap"):
        assert f"{__file__}:{line} (plant" in found.difference.line


@pytest.mark.every(4)
@pytest.mark.parametrize("name", CASES)
def test_programs_agree_with_themselves(name: str) -> None:
    case = CASES[name]
    way = case.options.get("a", "numpy")
    assert bindax.compare(case.f, case.args, a=way, b=way).agrees


def test_the_text_of_a_difference() -> None:
    def f(x: Any) -> Any:
        return bindax.jit(lambda y: plant(jnp.sin(y)) + 1.0)(x)

    text = str(bindax.compare(f, (X,), a="numpy", b="xla"))
    line = plant.__code__.co_firstlineno + 1
    wanted = [
        r"numpy and xla part after 1 equation\.",
        r"  equation   b:float32\[5\] = test\.planted \[ kind=one part in a thousand .* \] a",
        rf"  at         {re.escape(__file__)}:{line} \(plant.*\)",
        r"  inside     jit of <lambda>",
        r"  error      1\.0e-03; before it \S+, for equal inputs 1\.0e-03; 1\.3e-05 counts as .*",
        r"  result 0   element \[\d\] is 0\.\d+ with numpy, 0\.\d+ with xla",
        r"  input 0    float32\[5\] from 0\.479425\d* to 0\.997\d*",
        r"  The equation itself differs\.",
    ]
    assert len(text.splitlines()) == len(wanted), text
    for got, pattern in zip(text.splitlines(), wanted, strict=True):
        assert re.fullmatch(pattern, got), got


def test_the_text_of_an_agreement() -> None:
    found = bindax.compare(jnp.sin, (X,), a="numpy", b="xla")
    assert re.fullmatch(
        r"numpy and xla agree: 1 equation, the largest relative error is \S+\.", str(found)
    )
    with pytest.raises(ValueError, match=r"^there is no equation to save, because the runs agr"):
        found.save("nowhere.py")


def test_an_equation_that_enlarges_a_difference() -> None:
    found = bindax.compare(CASES["digits"].f, (X,), a="float32", b="float64").difference
    assert found is not None
    assert found.before < 1e-6 < 1e-3 < found.error.relative
    assert found.own == 0
    assert found.cause == (
        "For equal inputs the equation gives equal results: it enlarges the difference of its "
        "inputs."
    )


def test_rounding_of_terms_that_cancel_is_no_difference() -> None:
    rows = np.random.default_rng(0).normal(size=(8, 64)).astype(np.float32)

    def f(x: Any) -> Any:
        shares = bindax.nn.softmax(jnp.exp(jnp.sin(x)), axis=-1)
        return 3.0 * (shares - shares.mean(axis=-1, keepdims=True)).sum(axis=-1)

    assert bindax.compare(f, (rows,), a="float32", b="float64").agrees
    found = bindax.compare(lambda x: plant(f(x), "sign"), (rows,), a="numpy", b="xla")
    assert found.difference is not None
    assert found.difference.primitive == "test.planted"


def test_rounding_that_adds_up_is_no_difference() -> None:
    def f(x: Any) -> Any:
        for _ in range(14):
            x = x * x  # which doubles the relative error
        return x

    found = bindax.compare(f, (np.float32(1.001),), a="float32", b="float64")
    assert found.agrees
    assert found.largest > 1.3e-5


def test_a_loop_whose_body_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    from bindax_control_flow.scan.primitive import scan_p
    from bindax_core.extend import impl

    right = impl.functions[scan_p]
    wrong = lambda *operands, **params: [x + 1 for x in right(*operands, **params)]  # noqa: E731
    monkeypatch.setitem(impl.functions, scan_p, wrong)
    found = bindax.compare(in_reverse_scan_of_ones, (X,), a="numpy", b="xla").difference
    assert found is not None
    assert (found.primitive, found.path) == ("scan", ())
    assert found.cause == (
        "The equation itself differs; the equations of its body agree one by one."
    )


def in_reverse_scan_of_ones(x: Any) -> Any:
    return lax.scan(lambda c, a: (c + a, c), np.float32(0), x, reverse=True)


def test_float_types_in_loops_and_random_numbers() -> None:
    def f(x: Any) -> Any:
        noise = bindax.random.normal(bindax.random.key(0), x.shape)
        return lax.scan(lambda c, a: (c * 0.5 + jnp.tanh(a), c), np.float32(0), x + noise)

    assert bindax.compare(f, (X,), a="float32", b="float64").agrees
    assert bindax.compare(bindax.grad(lambda x: f(x)[0]), (X,), a="eager", b="float64").agrees
    assert bindax.compare(f, (X,), a="float32", b="bfloat16", rtol=0.5).agrees
    assert not bindax.compare(f, (X,), a="float32", b="float16", rtol=1e-5).agrees


def test_devices(eight_devices: Any) -> None:
    with bindax.config.override(backend=eight_devices.name):
        a, b = bindax.devices()[:2]
        assert bindax.compare(in_scan, (X,), a=a, b=b).difference is None
        found = bindax.compare(in_jit, (X,), a="numpy", b=b)
        assert found.difference is not None
        assert found.difference.primitive == "test.planted"


def saved_energy(x: Any) -> Any:
    y = jnp.sin(x) * 2.0
    return lax.scan(lambda c, a: (c * 0.5 + a, c), y.sum(), y)


def energy_today(x: Any) -> Any:
    y = jnp.sin(x) * 2.0
    return lax.scan(lambda c, a: (c * 0.25 + a, c), y.sum(), y)


def test_a_saved_program() -> None:
    exported = bindax.export.export(bindax.jit(saved_energy))(X)
    read = bindax.export.deserialize(exported.serialize())
    same = bindax.compare(saved_energy, (X,), a=read, b="xla")
    assert str(same).startswith("the export of saved_energy and xla agree: 2 results, the largest")
    found = bindax.compare(energy_today, (X,), a=read, b="numpy")
    line = energy_today.__code__.co_firstlineno + 2
    wanted = [
        r"the export of saved_energy and numpy part after 0 results\.",
        r"  result 0   \d\.\d+ with the export of saved_energy, \d\.\d+ with numpy",
        r"  error      \d\.\de-01; 1\.3e-05 counts as rounding",
        r"  today      %\d+ = stablehlo\.multiply %\d+, dense<2\.500000e-01> : tensor<f32> : .*",
        r"  exported   %\d+ = stablehlo\.multiply %\d+, dense<5\.000000e-01> : tensor<f32> : .*",
        rf"  at         {re.escape(__file__)}:{line}",
        r"  It is the first operation that is another one\.",
    ]
    for got, pattern in zip(str(found).splitlines(), wanted, strict=True):
        assert re.fullmatch(pattern, got), got
    assert found.as_dict()["line"] == f"{__file__}:{line}"
    with pytest.raises(ValueError, match=r"^there is no equation to save: of an exported prog"):
        found.save("nowhere.py")
    with pytest.raises(TypeError, match=r"^a and b of compare are exported programs; one of "):
        bindax.compare(saved_energy, (X,), a=read, b=read)
    with pytest.raises(
        ValueError, match=r"^compare: saved_energy was exported with 2 results, but "
    ):
        bindax.compare(jnp.sin, (X,), a=read, b="eager")
    swapped = bindax.compare(saved_energy, (X,), a="float64", b=exported)
    assert swapped.agrees


def test_bad_input() -> None:
    for given, message in (
        ("fast", "b of compare must be 'eager', 'compiled', the name of a backend, a float type, "),
        (("float32", "float64"), "b of compare says float_type twice: ('float32', 'float64')."),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            bindax.compare(jnp.sin, (X,), a="eager", b=given)
    with pytest.raises(TypeError, match=r"^a of compare must be 'eager', .*, but got 3\.$"):
        bindax.compare(jnp.sin, (X,), a=3, b="eager")
    with pytest.raises(TypeError, match=r"^f of compare must be a function, but got 3 "):
        bindax.compare(3, (X,), a="eager", b="eager")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^args of compare must be the tuple of the arg.*\(x,\)"):
        bindax.compare(jnp.sin, X, a="eager", b="eager")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^args of compare must hold arrays, but got 'x'; give f"):
        bindax.compare(lambda x, mode: x, (X, "x"), a="eager", b="eager")
    with pytest.raises(ZeroDivisionError):
        bindax.compare(lambda x: 1 / 0, (X,), a="eager", b="eager")


def test_programs_without_equations_and_empty_arrays() -> None:
    assert bindax.compare(lambda x: x, (X,), a="numpy", b="xla").compared == 0
    assert bindax.compare(jnp.sin, (X[:0],), a="numpy", b="xla").agrees
    empty_scan = bindax.compare(in_reverse_scan, (X[:0],), a="numpy", b="float64")
    assert empty_scan.agrees


@pytest.mark.parametrize("kind", ["itself", "enlarges", "bfloat16"])
def test_a_file_repeats_the_equation(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bindax_core.extend import impl
    from bindax_lax_basic import sin_p

    def cancelled(x: Any) -> Any:
        return (x * 1e-7 + 1.0) - 1.0

    x = jnp.asarray(X, jnp.bfloat16) if kind == "bfloat16" else X
    a, b, f = ("float32", "float64", cancelled) if kind == "enlarges" else ("numpy", "xla", jnp.sin)
    if kind != "enlarges":
        monkeypatch.setitem(impl.functions, sin_p, lambda x: x)
    found = bindax.compare(f, (x,), a=a, b=b)
    assert found.difference is not None
    found.save(tmp_path / "repeat.py")
    program = (tmp_path / "repeat.py").read_text()
    exec(compile(program, "repeat.py", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    if kind == "enlarges":
        assert "float32 and float64 agree" in printed
        assert "With the operands of float64:" in printed
    else:
        assert f"{a} and {b} part after 0 equations." in printed
        assert "= sin " in printed


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from bindax._cli import main

    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "compared_model", None)
    file = tmp_path / "compared_model.py"
    file.write_text(
        "import numpy as np\n"
        "x = np.ones(3, np.float32)\n"
        "def f(x):\n"
        "    return (x * 1e-7 + 1.0) - 1.0\n"
        "def g(x):\n"
        "    return (x * 2.0).sum()\n"
    )
    run = CliRunner().invoke
    args = ["compare", f"{file}:f", "--args", "x", "--a", "numpy", "--b", "xla,float64"]
    done = run(main, [*args, "--save", str(tmp_path / "repeat.py")])
    assert done.exit_code == 1
    assert done.output.startswith("numpy and xla, float64 part after 2 equations.\n")
    assert (tmp_path / "repeat.py").exists()
    done = run(main, ["compare", f"{file}:g", "--grad", *args[2:]])
    assert (done.exit_code, done.output[:30]) == (0, "numpy and xla, float64 agree: ")
    done = run(main, ["compare", f"{file}:g", *args[2:4]])
    assert (done.exit_code, done.output[:25]) == (0, "eager and compiled agree:")
    record = json.loads(run(main, [*args, "--json"]).output)
    assert (record["agrees"], record["primitive"], record["path"]) == (False, "sub", [])
    assert record["line"].startswith(f"{file}:4 (f")
    done = run(main, [*args[:4], "--a", "fast", "--b", "numpy"])
    assert done.exit_code == 2
    assert "Error: a of compare must be 'eager'," in done.output
