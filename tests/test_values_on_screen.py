"""Values of all packages in their forms for notebooks and terminals."""

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import nnx
from bindax_text import View


def test_traced_values_are_shown_by_their_types() -> None:
    shown: list[str] = []

    def f(x: Any) -> Any:
        shown.append(x._repr_html_())
        shown.append(View({"x": x})._repr_html_())
        return x * 2

    bindax.jit(f)(np.ones(3, np.float32))
    bindax.vmap(bindax.grad(f))(np.ones(3, np.float32))
    assert len(shown) == 4
    assert all("traced: it has no elements yet" in one for one in shown)
    assert "<b>float32[3]</b>" in shown[0]
    assert "<b>float32[]</b>" in shown[2]


def test_symbolic_sizes_have_no_bytes() -> None:
    shown: list[str] = []

    def f(x: Any) -> Any:
        shown.append(View([x])._repr_html_())
        return x + 1

    symbolic = bindax.export.symbolic_args_specs([np.ones((2, 3), np.float32)], ["n, 3"])
    bindax.make_jaxpr(f)(*symbolic)
    assert "<b>float32[n,3]</b>" in shown[0]


def test_random_keys_are_shown() -> None:
    keys = bindax.random.split(bindax.random.key(0), 3)
    assert "<b>key&lt;fry&gt;[3]</b>" in keys._repr_html_()


def test_forms_need_no_plugin_to_be_loaded_before() -> None:
    rich = pytest.importorskip("rich.console")
    console = rich.Console(width=80, color_system=None)
    with console.capture() as captured:
        console.print(jnp.ones(3, jnp.float32))
    assert captured.get().startswith("float32[3]  12 bytes")


def test_values_of_models_are_shown_with_their_parts() -> None:
    layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    page = layer._repr_html_()
    assert "<summary>Linear(" in page
    assert "<summary>kernel=Param(" in page
    assert "<b>float32[2,3]</b>" in page
    assert "State({" in nnx.state(layer)._repr_html_()
    assert nnx.display is bindax.display


def test_arrays_have_no_html_by_the_conventions_of_jax() -> None:
    # Treescope and other packages written for JAX would show it in place of what they know.
    x = jnp.ones(3, jnp.float32)
    assert hasattr(x, "_repr_html_")
    with bindax.config.override(conventions="jax"):
        assert not hasattr(x, "_repr_html_")
