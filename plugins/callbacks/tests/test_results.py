from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bindax_callbacks import io_callback, pure_callback
from bindax_core import ShapeDtypeStruct
from bindax_core.errors import MissingRuleError
from bindax_transforms import grad, jit, jvp, make_jaxpr, vmap

F32 = ShapeDtypeStruct((), np.float32)
STAGES = pytest.mark.parametrize("stage", [lambda f: f, jit], ids=["eager", "jit"])
CALLS = pytest.mark.parametrize("call", [pure_callback, io_callback])


@STAGES
@CALLS
def test_trees_of_results(stage: Any, call: Any) -> None:
    def host(x: Any, *, y: Any) -> Any:
        return {"sum": np.asarray(x) + np.asarray(y["y"]), "count": [3]}

    kinds = {"sum": ShapeDtypeStruct((2,), np.float64), "count": (ShapeDtypeStruct((), "int8"),)}
    out = stage(lambda x, y: call(host, kinds, x, y={"y": y}))(np.ones(2), 2.0)
    assert out["sum"].tolist() == [3.0, 3.0]
    assert out["count"][0].dtype == np.int8
    assert isinstance(out["count"], tuple)


@STAGES
@CALLS
def test_scalars_take_the_announced_dtype(stage: Any, call: Any) -> None:
    for value, dtype in [(1, "float32"), (True, "int16"), (2.5, "complex64"), (3, "uint8")]:
        out = stage(
            lambda value=value, dtype=dtype: call(lambda: value, ShapeDtypeStruct((), dtype))
        )()
        assert out.dtype == dtype
        assert complex(out) == value


@STAGES
@CALLS
@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"a": np.ones(2, np.float32)}, r"returned float32\[2\] at result\['a'\], but float32\[\]"),
        ({"a": np.float64(1.0)}, r"returned float64\[\] at result\['a'\], but float32\[\]"),
        ({"a": 1j}, r"returned complex128\[\] at result\['a'\]"),
        ([1.0, 2.0], r"returned PyTreeDef.*, but PyTreeDef.* was announced"),
        (None, r"was announced in result_shape_dtypes"),
    ],
)
def test_results_of_other_types(stage: Any, call: Any, result: Any, message: str) -> None:
    def host() -> Any:
        return result

    with pytest.raises(Exception, match=r"the callback host \(.*test_results.py:.*" + message):
        stage(lambda: call(host, {"a": F32}))()


@CALLS
def test_wrong_arguments(call: Any) -> None:
    with pytest.raises(TypeError, match=r"must hold ShapeDtypeStruct.* but it holds 1\.0"):
        call(np.sin, 1.0, 1.0)
    with pytest.raises(TypeError, match="takes a function, but got None"):
        call(None, F32)
    with pytest.raises(TypeError, match=r"argument args\[1\]\['a'\]: .*functools\.partial"):
        call(np.sin, F32, 1.0, {"a": "text"})
    with pytest.raises(TypeError, match=r"argument kwargs\['name'\]"):
        call(np.sin, F32, name="text")
    with pytest.raises(ValueError, match="so sharding must be None, but it is 'x'"):
        call(np.sin, F32, 1.0, sharding="x")


def test_vmap_method_must_be_known() -> None:
    with pytest.raises(ValueError, match=r"must be one of None, 'sequential', .* but it is 'loop'"):
        pure_callback(np.sin, F32, 1.0, vmap_method="loop")


@STAGES
@pytest.mark.parametrize(
    ("method", "shapes"),
    [
        ("sequential", [((2,), ())] * 3),
        ("expand_dims", [((3, 2), (1,))]),
        ("broadcast_all", [((3, 2), (3,))]),
        ("legacy_vectorized", [((3, 2), ())]),
    ],
)
def test_vmap_methods(stage: Any, method: str, shapes: Any) -> None:
    seen = []

    def host(x: Any, y: Any) -> Any:
        x, y = np.asarray(x), np.asarray(y)
        seen.append((x.shape, y.shape))
        return x + (y[:, None] if y.ndim else y)

    def f(x: Any, y: Any) -> Any:
        kind = ShapeDtypeStruct(x.shape, x.dtype)
        return pure_callback(host, kind, x, y, vmap_method=method)

    x = np.arange(6.0).reshape(2, 3)
    out = stage(vmap(f, in_axes=(1, None), out_axes=1))(x, 10.0)
    assert out.tolist() == (x + 10.0).tolist()
    assert seen == shapes


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_vmap_of_vmap(method: str) -> None:
    def f(x: Any, y: Any) -> Any:
        return pure_callback(
            lambda x, y: np.asarray(x) * np.asarray(y), F32, x, y, vmap_method=method
        )

    x, y = np.arange(2, dtype=np.float32), np.arange(1, 4, dtype=np.float32)
    out = jit(vmap(vmap(f, in_axes=(None, 0)), in_axes=(0, None)))(x, y)
    assert out.tolist() == np.multiply.outer(x, y).tolist()


def test_vmap_without_method() -> None:
    with pytest.raises(ValueError, match=r"vmap of pure_callback\(sin, \.\.\.\) needs to know"):
        vmap(lambda x: pure_callback(np.sin, F32, x))(np.ones(2, np.float32))


@pytest.mark.parametrize("call", [pure_callback, io_callback])
def test_no_derivative(call: Any) -> None:
    x = np.float32(1.0)

    def f(x: Any) -> Any:
        return call(np.sin, F32, x)

    for transformed in (grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(MissingRuleError, match="give its derivative with custom_jvp"):
            transformed(x)
    # With respect to what the callback does not see, there is one.
    assert float(grad(lambda x: x * call(np.cos, F32, np.float32(0.0)))(x)) == 1.0


def test_programs_print_the_callback() -> None:
    program = make_jaxpr(lambda x: io_callback(np.sin, F32, x, ordered=True))(np.float32(1.0))
    assert "io_callback [ callback=sin" in str(program)
    assert [effect.name for effect in program.jaxpr.effects] == ["ordered io"]


def test_extension_dtypes() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = ShapeDtypeStruct((2,), ml_dtypes.bfloat16)
    x = np.ones(2, ml_dtypes.bfloat16)
    out = jit(lambda x: pure_callback(lambda x: np.asarray(x) + np.asarray(x), kind, x))(x)
    assert out.dtype == ml_dtypes.bfloat16
    assert float(out.numpy()[0]) == 2.0


@STAGES
@CALLS
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupts_are_no_errors_of_the_program(stage: Any, call: Any, kind: Any) -> None:
    def interrupted(x: Any) -> Any:
        raise kind

    with pytest.raises(kind):
        stage(lambda x: call(interrupted, F32, x))(np.float32(1.0)).block_until_ready()
    assert float(jit(lambda x: x * 2)(1.0)) == 2.0
