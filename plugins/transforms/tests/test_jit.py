"""``jit`` and staging without a compiler: caching, static arguments, constants, printing."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import toy

import bindax_core as bx
import bindax_transforms as bt
from bindax_transforms.staging.static_arguments import splits

pytestmark = pytest.mark.usefixtures("toy_operations")


def counted(fun: Any = None) -> tuple[Any, list[int]]:
    calls: list[int] = []

    def g(x: Any, *rest: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return fun(x, *rest, **kwargs) if fun else toy.sin(x)

    return g, calls


def test_traces_once_for_each_type() -> None:
    g, calls = counted()
    jitted = bt.jit(g)
    for x, traces in [
        (3.0, 1),
        (4.0, 1),
        (np.float64(3.0), 1),  # as weak as a Python number
        (np.array(3.0), 2),
        (np.float32(3.0), 3),
        (np.zeros(2), 4),
        (np.ones(2), 4),
        (bx.Array.from_numpy(np.ones(2)), 4),
    ]:
        jitted(x)
        assert len(calls) == traces
    assert jitted.cache_info().misses == 4
    assert jitted.cache_info().hits == 4
    jitted.clear_cache()
    jitted(3.0)
    assert len(calls) == 5


def test_jit_of_one_function_shares_its_cache() -> None:
    g, calls = counted()
    assert float(bt.jit(g)(1.0)) == float(bt.jit(g)(1.0))
    assert len(calls) == 1


def test_static_arguments() -> None:
    g, calls = counted(lambda x, n, flag=True: toy.sin(x) * float(n) if flag else x)
    jitted = bt.jit(g, static_argnums=1, static_argnames="flag")
    assert float(jitted(1.0, 2)) == pytest.approx(2 * np.sin(1.0))
    assert float(jitted(1.0, 3)) == pytest.approx(3 * np.sin(1.0))
    assert float(jitted(1.0, 3, flag=False)) == 1.0
    assert len(calls) == 3
    jitted(2.0, 3)
    assert len(calls) == 3
    jitted(2.0, 3.0)  # equal to 3, but of another type
    assert len(calls) == 4

    # Who gives both has said it all: "flag" stands for no position, whatever the signature says.
    with pytest.raises(TypeError, match="not an array"):
        jitted(1.0, 2, "flag")

    with pytest.raises(TypeError, match="not an array"):
        bt.jit(g, static_argnums=(), static_argnames="flag")(1.0, 2, "flag")

    def named(x: Any, times: int) -> Any:
        return x * float(times)

    by_name = bt.jit(named, static_argnames=("times",))
    assert float(by_name(2.0, 3)) == float(by_name(2.0, times=3)) == 6.0
    unknown = "static_argnames of jit names 'tims', but the parameters of named .* are times, x"
    with pytest.raises(ValueError, match=unknown):
        bt.jit(named, static_argnames=("tims",))


def test_static_arguments_among_others_of_any_name() -> None:
    def f(*args: object, **named: Any) -> Any:
        return named["a0"]

    jitted = bt.jit(f, static_argnums=(-1, 1), static_argnames=("which", "1 + 1"))
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((1.0, 2, "x"), {"a0": 3.0, "which": 4}),
        ((1.0, 2, "x"), {"1 + 1": 0, "a0": 3.0, "names": 6.0, "which": 4}),
        ((1.0,) * 300, {"a0": 5.0}),
        (("x",), {"a0": 3.0}),
        ((), {"a0": 7.0}),
    ]
    for args, named in 2 * calls:
        assert float(jitted(*args, **named)) == named["a0"]
    assert jitted.cache_info().misses == len(calls)
    assert jitted.cache_info().hits == len(calls)


def test_forms_of_calls_are_not_kept_for_ever() -> None:
    split = splits((0,), ())
    for i in range(1000):
        assert split[1, f"name {i}"]((2,), {f"name {i}": 3})[:2] == ((), {f"name {i}": 3})
    assert len(split) <= 256


@pytest.mark.parametrize("option", ["static_argnames", "donate_argnames"])
def test_names_that_no_argument_can_be_passed_by(option: str) -> None:
    def named(a: Any, /, b: Any, *more: Any, c: Any = 1.0) -> Any:
        return b

    def takes_any(a: Any, /, b: Any, *more: Any, **others: Any) -> Any:
        return b

    for name in ("a", "more"):
        for f in (named, takes_any):
            with pytest.raises(ValueError, match=f"{option} of jit names '{name}', .* by position"):
                bt.jit(f, **{option: ("b", name)})
    with pytest.raises(ValueError, match=f"{option} of jit names 'others', .* are b, c"):
        bt.jit(named, **{option: "others"})
    bt.jit(takes_any, **{option: ("b", "whatever")})


def test_a_name_means_the_position_behind_those_without_names() -> None:
    def times(x: Any, /, n: int) -> Any:
        return x * float(n)

    by_name, by_position = bt.jit(times, static_argnames="n"), bt.jit(times, static_argnums=1)
    for jitted in (by_name, by_position):
        assert float(jitted(2.0, 3)) == float(jitted(2.0, n=3)) == 6.0


def test_names_to_donate_of_a_function_whose_parameters_are_not_known() -> None:
    class Unknown:
        __signature__ = "none"

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return args[0]

    with pytest.raises(ValueError, match=r"the signature is not known, .* donate_argnums"):
        bt.jit(Unknown(), donate_argnames="a")
    assert float(bt.jit(Unknown(), static_argnames="a")(1.0)) == 1.0


def test_jit_as_decorator_and_method() -> None:
    class Model:
        def __init__(self, w: float) -> None:
            self.w = w

        @bt.jit
        def frozen(self: Any, x: Any = None) -> Any:
            return self

    @bt.jit
    def g(x: Any) -> Any:
        """Doc of g."""
        return x * 2.0

    assert g.__name__ == "g"
    assert g.__doc__ == "Doc of g."
    assert float(g(2.0)) == 4.0
    assert repr(g).startswith("<jit of ")

    @bt.jit(inline=True)
    def h(x: Any) -> Any:
        return x * 3.0

    assert float(h(2.0)) == 6.0
    names = [eqn.primitive.name for eqn in bt.make_jaxpr(lambda x: g(h(x)))(1.0).eqns]
    assert names == ["toy.mul", "jit"]  # h is dissolved, g is a call
    with pytest.raises(TypeError, match=r"argument self is not an array: a value of type .*Model"):
        Model(1.0).frozen()


def test_jit_accepts_trees_and_keywords() -> None:
    @bt.jit
    def g(tree: Any, *, scale: Any) -> Any:
        return {"out": (tree["a"] * scale, tree["b"])}

    out = g({"a": 2.0, "b": np.arange(2)}, scale=3.0)
    assert float(out["out"][0]) == 6.0
    np.testing.assert_array_equal(out["out"][1], [0, 1])


def test_constants_are_copied_at_tracing_time() -> None:
    c = np.array([1.0, 2.0])

    @bt.jit
    def g(x: Any) -> Any:
        return x * c

    np.testing.assert_array_equal(g(np.ones(2)), [1.0, 2.0])
    c[:] = 100.0
    np.testing.assert_array_equal(g(np.ones(2)), [1.0, 2.0])


def test_results_do_not_alias_the_callers_array() -> None:
    x = np.zeros((2, 3))
    transposed = toy.permute_p.bind(x, perm=(1, 0))
    x[:] = 7.0
    np.testing.assert_array_equal(transposed, np.zeros((3, 2)))


def test_traces_do_not_keep_what_they_close_over() -> None:
    class Big:
        value = 2.0

    def outer() -> weakref.ref[Big]:
        big = Big()

        def g(x: Any) -> Any:
            return x * big.value

        bt.jit(g)(1.0)
        bt.grad(bt.jit(g))(1.0)
        return weakref.ref(big)

    reference = outer()
    gc.collect()
    assert reference() is None


def test_make_jaxpr_prints() -> None:
    assert str(bt.make_jaxpr(lambda x: 2.0 * x)(3.0)) == (
        "{ lambda a:float64[] .\n  let b:float64[] = toy.mul 2.0 a\n  in ( b ) }"
    )
    assert str(bt.make_jaxpr(lambda: toy.mul(2.0, 2.0))()) == (
        "{ lambda  .\n  let a:float64[] = toy.mul 2.0 2.0\n  in ( a ) }"
    )
    assert str(bt.make_jaxpr(lambda x: toy.reduce_sum(x))(np.zeros((2, 3), np.float32))) == (
        "{ lambda a:float32[2,3] .\n  let b:float32[3] = toy.reduce_sum [ axis=0 ] a\n  in ( b ) }"
    )


def test_make_jaxpr_of_nested_jit_prints_the_program() -> None:
    text = str(bt.make_jaxpr(bt.jit(lambda x: toy.sin(x)))(1.0))
    assert "{ lambda a:float64[] ." in text.splitlines()[-4]
    assert "toy.sin a" in text
    assert "name=<lambda>" in text


def test_make_jaxpr_options() -> None:
    jaxpr, shape = bt.make_jaxpr(lambda x, n: {"y": x * float(n)}, 1, return_shape=True)(1.0, 3)
    assert shape == {"y": bx.ShapedArray((), np.float64, weak_type=True)}
    assert len(jaxpr.jaxpr.invars) == 1
    aval = bx.ShapedArray((2,), np.float32)
    assert bt.make_jaxpr(toy.sin)(aval).in_avals == [aval]
    assert bt.eval_shape(toy.sin, aval) == aval


def test_partial_staging_follows_data_dependence() -> None:
    from bindax_core.extend import DebugInfo

    jaxpr = bt.trace_to_jaxpr(lambda: [toy.mul(2.0, 2.0)], [], DebugInfo("test"), dynamic=False)
    assert str(jaxpr) == "{ lambda  .\n  let \n  in ( 4.0 ) }"


def test_source_lines_of_equations() -> None:
    jaxpr = bt.make_jaxpr(f_with_a_line)(1.0)
    source = str(jaxpr.eqns[0].source_info)
    assert "test_jit.py" in source
    assert "(f_with_a_line)" in source


def f_with_a_line(x: Any) -> Any:
    return toy.sin_p.bind(x)


def test_dead_code_elimination() -> None:
    def g(x: Any) -> Any:
        toy.sin(x)
        return bt.jit(lambda x: (toy.sin(x), toy.cos(x)))(x)[0]

    closed = bt.make_jaxpr(g)(1.0)
    pruned, used = bt.dce_jaxpr(closed.jaxpr, [True])
    assert used == [True]
    assert len(pruned.eqns) == 1
    inner = pruned.eqns[0].params["jaxpr"]
    assert [eqn.primitive.name for eqn in inner.eqns] == ["toy.sin"]
    bx.typecheck_jaxpr(pruned)


def test_lowered_without_a_compiler_is_the_program() -> None:
    lowered = bt.jit(lambda x: toy.sin(x)).lower(1.0)
    assert "toy.sin" in lowered.as_text()
    compiled = lowered.compile()
    assert float(compiled(2.0)) == pytest.approx(np.sin(2.0))
    with pytest.raises(
        TypeError,
        match=r"types differ .*\n.* 'x' compiled with float64\[\] and called with float64\[2\]",
    ):
        compiled(np.zeros(2))


def test_typechecker_finds_ill_formed_programs() -> None:
    closed = bt.make_jaxpr(lambda x: toy.sin(toy.cos(x)))(1.0)
    jaxpr = closed.jaxpr
    assert str(bx.typecheck_jaxpr(jaxpr)) == "(float64[]) -> (float64[])"
    cos, sin = jaxpr.eqns
    with pytest.raises(bx.errors.JaxprTypeError, match=r"equation 0 \(toy.sin\).*before it is bo"):
        bx.typecheck_jaxpr(jaxpr.replace(eqns=[sin, cos]))
    with pytest.raises(bx.errors.JaxprTypeError, match="is bound twice"):
        bx.typecheck_jaxpr(jaxpr.replace(eqns=[cos, cos, sin]))
    wrong = bx.Var(bx.ShapedArray((2,), np.float64))
    with pytest.raises(bx.errors.JaxprTypeError, match=r"type float64\[2\] to a result of type fl"):
        bx.typecheck_jaxpr(jaxpr.replace(eqns=[cos.replace(outvars=[wrong])], outvars=[wrong]))


def test_eval_jaxpr_counts_its_arguments() -> None:
    closed = bt.make_jaxpr(toy.sin)(1.0)
    with pytest.raises(TypeError, match="1 arguments was applied to 0 constants and 2 arguments"):
        bx.eval_jaxpr(closed.jaxpr, [], 1.0, 2.0)
    assert float(bx.jaxpr_as_fun(closed)(2.0)[0]) == pytest.approx(np.sin(2.0))


def test_an_interpreted_program_has_no_analyses() -> None:
    compiled = bt.jit(lambda x: toy.mul(x, x)).lower(np.ones(2)).compile()
    for what in ("memory_analysis", "cost_analysis"):
        with pytest.raises(
            bx.errors.BackendError, match=f"gives no {what}: it interprets the program"
        ):
            getattr(compiled, what)()


def test_positions_that_no_argument_has() -> None:
    for option in ("static_argnums", "donate_argnums"):
        for i in (2, -3):
            with pytest.raises(
                ValueError, match=rf"{option} of jit names position {i}, but <lambda"
            ):
                bt.jit(lambda x, y: x, **{option: i})
    bt.jit(lambda *xs: xs, static_argnums=5)
    both = r"argument 1 is both static and donated"
    with pytest.raises(ValueError, match=both):
        bt.jit(lambda x, y: x, static_argnums=1, donate_argnums=-1)
    with pytest.raises(ValueError, match=both):
        bt.jit(lambda x, y: x, static_argnames="y", donate_argnames="y")


def test_what_is_compiled_ahead_of_time_takes_no_static_arguments() -> None:
    f = bt.jit(lambda x, n: toy.mul(x, float(n)), static_argnums=1)
    for compiled in (f.lower(1.0, 3).compile(), f.lower(1.0, n=3).compile()):
        assert float(compiled(2.0)) == 6
        with pytest.raises(TypeError, match="but for static ones, which are left out"):
            compiled(2.0, 3)
