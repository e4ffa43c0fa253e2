"""Programs with explicit and manual axes as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import NamedSharding, P, lax
from bindax.errors import JaxprTextError
from bindax.sharding import AbstractMesh, AxisType, reshard

EXPLICIT = (AxisType.Explicit,) * 2
FORMER = """bindax jaxpr 1
uses bindax-lax-basic 0.1.0

program @0 (a:float32[8,4]{mesh=(("x", 4, "Explicit"),), spec=(("x",), ())}, b:float32[2]{manual_varying=frozenset("x")})
  c:float32[8,4]{mesh=(("x", 4, "Explicit"),), spec=(("x",), ())} = bindax-lax-basic/sin (a)
  return (c, b)
"""  # noqa: E501


def program(x: Any) -> Any:
    y = bindax.shard_map(lambda x: lax.pcast(x, "x", to="unreduced"), out_specs=P(unreduced={"x"}))(
        x
    )
    z = bindax.shard_map(lambda x: lax.psum(x, "x") * lax.axis_index("y"), out_specs=P("y"))(y)
    return reshard(jnp.sin(z), P(("y", "x"))), y


def read_back(closed: Any) -> str:
    text: str = bindax.jaxpr_to_text(closed)
    again = bindax.jaxpr_from_text(text)
    assert bindax.jaxpr_to_text(again) == text
    assert str(again) == str(closed)
    return text


def test_types_are_written_as_they_are_printed(mesh: Any, numbers: Any) -> None:
    with bindax.set_mesh(mesh.update(axis_types=EXPLICIT)):
        x = reshard(np.tile(numbers, (2, 1)), P("x"))
        closed = bindax.make_jaxpr(program)(x)
        text = read_back(closed)
        again = bindax.jaxpr_from_text(text)
        (ours, _), theirs = bindax.eval_jaxpr(again.jaxpr, again.consts, x), program(x)[0]
        np.testing.assert_array_equal(ours, theirs)
    head = 'on [x=(4, "Explicit"), y=(2, "Explicit")] (a:float32[16@x,8])'
    for part in (head, "b:float32[4,8]{U:x}", "float32[8@(y,x),8]", "a:int32[]{V:x}"):
        assert part in text
    assert again.jaxpr.eqns[-1].params == closed.jaxpr.eqns[-1].params  # a NamedSharding


def test_types_that_the_short_form_does_not_say_have_fields() -> None:
    mesh = AbstractMesh((4, 2), ("a b", "y"), EXPLICIT)
    aval = bindax.ShapeDtypeStruct((8, 2), np.float32, sharding=NamedSharding(mesh, P("a b")))
    text = read_back(bindax.make_jaxpr(lambda x: jnp.sin(x).sum(1))(aval))
    assert '{mesh=(("a b", 4, "Explicit"), ("y", 2, "Explicit")), spec=(("a b",), ())}' in text


def test_texts_of_earlier_versions_are_read() -> None:
    closed = bindax.jaxpr_from_text(FORMER)
    first, second = closed.in_avals
    assert (first.str_short(), second.str_short()) == ("float32[8@x,4]", "float32[2]{V:x}")
    assert 'program @0 on [x=(4, "Explicit")] (a:float32[8@x,4], b:float32[2]{V:x})' in read_back(
        closed
    )


def test_shardings_without_devices_and_open_axes() -> None:
    mesh = AbstractMesh((4, 2), ("x", "y"), (AxisType.Auto, AxisType.Explicit))
    sharding = NamedSharding(mesh, P("x", P.UNCONSTRAINED))

    def constrained(x: Any) -> Any:
        return lax.with_sharding_constraint(2 * x, sharding)

    closed = bindax.make_jaxpr(constrained)(np.ones((8, 4)))
    again = bindax.jaxpr_from_text(read_back(closed))
    assert again.jaxpr.eqns[-1].params["sharding"] == sharding


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('on [x=(4, "Explicit")] ', "", "line 4: a type is damaged: the program names no mesh"),
        ("8@x", "6@x", "line 4: a type is damaged: .*does not evenly divide"),
        ("8@x", "8@z", "line 4: a type is damaged"),
        ("8@x", "8@", "line 4: expected the name of a mesh axis"),
        ("{V:x}", "{V:x, V:x}", "line 4: expected V, U or R, each once"),
        ('(4, "Explicit")', '(4, "Implicit")', "line 4: a mesh is damaged"),
        ("[x=(4, ", "[x=(4,), y=(", "line 4: a mesh is damaged"),
    ],
)
def test_damaged_types_are_refused(old: str, new: str, message: str) -> None:
    lines = bindax.jaxpr_to_text(bindax.jaxpr_from_text(FORMER)).splitlines(keepends=True)
    text = "".join([lines[0], *lines[2:]])
    assert old in text
    with pytest.raises(JaxprTextError, match=message):
        bindax.jaxpr_from_text(text.replace(old, new, 1))


def test_a_mesh_of_more_devices_than_there_are_is_refused(mesh: Any) -> None:
    closed = bindax.make_jaxpr(
        lambda x: lax.with_sharding_constraint(x, NamedSharding(mesh, P("x")))
    )(np.ones(8))
    lines = bindax.jaxpr_to_text(closed).splitlines(keepends=True)
    text = "".join([lines[0], *lines[2:]]).replace("6, 7)", "6, 99)")
    with pytest.raises(JaxprTextError, match=r"Mesh is damaged: .*the mesh has the device 99"):
        bindax.jaxpr_from_text(text)
