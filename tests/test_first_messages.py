"""Mistakes that newcomers make are named in the words that they have written."""

from __future__ import annotations

import re
from typing import Any

import pytest

import bindax
import bindax.numpy as bnp
from bindax import lax, vmap


@pytest.mark.parametrize("device", ["cpu", 0])
def test_devices_by_name(device: Any) -> None:
    pytest.importorskip("jaxlib")
    for name, call in (
        ("device_put", lambda: bindax.device_put(1.0, device)),
        ("zeros", lambda: bnp.zeros(3, device=device)),
    ):
        with pytest.raises(ValueError, match=rf"{name}: device must be one of bindax.devices\(\)"):
            call()


def test_swapped_arguments_of_unflatten() -> None:
    leaves, structure = bindax.tree.flatten([1, 2])
    for unflatten in (bindax.tree.unflatten, bindax.tree_util.tree_unflatten):
        with pytest.raises(TypeError, match="Structure and leaves are swapped"):
            unflatten(leaves, structure)
        with pytest.raises(TypeError, match="takes the structure first, a PyTreeDef, but got None"):
            unflatten(None, leaves)


def test_trees_as_operands() -> None:
    with pytest.raises(TypeError, match="concatenate: operands must be a list or tuple of arrays"):
        lax.concatenate({"a": 1}, 0)
    joined = lax.concatenate((bnp.ones(1) for _ in range(2)), 0)
    assert joined.shape == (2,)


def test_vmap_names_parameters() -> None:
    def apply(weights: Any, *rest: Any, bias: Any = None) -> Any:
        return weights

    three, four = bnp.ones(3), bnp.ones(4)
    with pytest.raises(ValueError, match=r"weights\['w'\] of type .* size 3 .*; rest\[0\] of type"):
        vmap(apply)({"w": three}, four)
    with pytest.raises(ValueError, match=r"weights of type .* size 3 .*; bias of type"):
        vmap(apply)(three, bias=four)
    with pytest.raises(ValueError, match=r"map axis 2 of rest\[0\], which"):
        vmap(apply, in_axes=(0, 2))(three, four)
    with pytest.raises(TypeError, match=r"vmap over weights: .*bindax\.numpy\.asarray"):
        vmap(apply)("a")


def test_remedies_are_written_as_they_are_typed() -> None:
    with pytest.raises(TypeError, match=r"bindax\.lax\.cond, .* or bindax\.numpy\.where"):
        bindax.jit(lambda x: 1 if x > 0 else 2)(1.0)
    with pytest.raises(TypeError, match=r"bindax\.numpy\.where\(mask, x, otherwise\)"):
        bindax.jit(lambda x: x[x > 0])(bnp.ones(3))


UNUSUAL: list[tuple[Any, str]] = [
    (lambda: bnp.ones(3) * "a", r"float32\[3\], which cannot stand for one .* repetitions"),
    (
        lambda: [1, 2] * bnp.ones(3),
        r"unsupported operand types .*Array and list.*bindax\.numpy\.asarray",
    ),
    (lambda: range(bnp.asarray(1.0)), r"float32\[\], which cannot stand for one integer"),
    (lambda: bnp.ones(3).item("a"), r"item of float32\[3\]: 'a' names no element"),
    (lambda: bnp.ones(3).item(7), r"item of float32\[3\]: 7 names no element"),
    (lambda: bnp.ones(3).addressable_data(-5), "among the 1 parts of the array .* but got -5"),
    (lambda: bnp.ones(3).addressable_data(slice(None)), "among the 1 parts"),
    (lambda: bindax.jit(len, backend=["cpu"]), r"jit: backend must be the name .* \['cpu'\]"),
    (lambda: bindax.pmap(lambda x: x, in_axes="a")(bnp.ones(1)), "pmap: in_axes must be .* 'a'"),
    (lambda: bindax.pmap(lambda x: x, axis_size="a")(bnp.ones(1)), "pmap: axis_size must be an"),
    (
        lambda: setting(default_device=[1]),
        r"config\.default_device must be .* but got \[1\]",
    ),
    (lambda: setting(eager=bnp.ones(2)), r"config\.eager must be one of .* but got Array"),
    (lambda: setting(debug_nans=["a"]), r"config\.debug_nans"),
]


def setting(**values: Any) -> None:
    with bindax.config.override(**values):
        pass


@pytest.mark.parametrize("i", range(len(UNUSUAL)))
def test_unusual_arguments(i: int) -> None:
    call, text = UNUSUAL[i]
    with pytest.raises((TypeError, ValueError, IndexError), match=text):
        call()


def test_a_sentence_inside_another_one_has_no_full_stop() -> None:
    """Messages of other errors, and reasons that plugins give, end without theirs."""
    rules = bindax.extend.rules
    made = bindax.extend.Primitive("stops")
    rules.jvp.install(made, rules.jvp.absent("It has corners."))
    texts = []
    for call in (
        lambda: bindax.numpy.array(object(), dtype="float32"),
        lambda: bindax.custom_jvp(lambda x: x)(1, 2, 3),
        lambda: bindax.extend.rules.jvp.get(made),
    ):
        with pytest.raises(Exception) as caught:
            call()
        texts.append(str(caught.value))
    assert "It has corners." in texts[-1]
    assert not [text for text in texts if re.search(r"\w\.\.(\s|$)", text)]
