"""Programs that Flax refuses are refused here, with the same kind of error."""

import numpy as np
import pytest

import bindax
import bindax_numpy as jnp
from bindax import nnx

flax_nnx = pytest.importorskip("flax.nnx", reason="the library to compare with")


def both(library):
    return library.Dict(a=library.Param(1), b=library.Variable(2))


def dropout(library):
    return library.Dropout(0.5, deterministic=False)


def opaque(library):
    class Opaque(library.Pytree, pytree=False):
        def __init__(self):
            self.x = 1

    return Opaque()


def sowing(library, value):
    class Sowing(library.Module):
        def __init__(self):
            self.y = value

    Sowing().sow(library.Intermediate, "y", 1)


def marked(library, value, new):
    class Marked(library.Pytree):
        def __init__(self):
            self.a = library.static(value)

    Marked().a = new


def traced(library, change, *captured):
    import jax

    (bindax if library is nnx else jax).jit(lambda x: change(*captured, x))(0)


def array(library):
    import jax.numpy

    return (jnp if library is nnx else jax.numpy).ones(3)


CASES = {
    "a filter is missing": lambda lib: lib.split(both(lib), lib.Param),
    "a filter after all": lambda lib: lib.split(both(lib), ..., lib.Param),
    "attributes that no module has": lambda lib: dropout(lib).set_attributes(unknown=1),
    "attributes of a copy that no module has": lambda lib: lib.with_attributes(
        dropout(lib), unknown=1
    ),
    "options that no view takes": lambda lib: lib.view(dropout(lib), unknown=1),
    "sow over a static value": lambda lib: sowing(lib, 10),
    "sow over another kind": lambda lib: sowing(lib, lib.Param(1)),
    "data marked as static": lambda lib: marked(lib, array(lib), 1),
    "data for what is static": lambda lib: marked(lib, 1, ["text", array(lib)]),
    "a change from inside of a trace": lambda lib: traced(
        lib, lambda m, x: setattr(m, "a", x), both(lib)
    ),
    "a draw from inside of a trace": lambda lib: traced(
        lib, lambda streams, x: streams.params(), lib.Rngs(0)
    ),
    "a stream that is not there": lambda lib: lib.Rngs(some=0).dropout(),
    "dropout without streams": lambda lib: dropout(lib)(array(lib)),
    "variables that a tree shares": lambda lib: lib.compat.split(
        [v := lib.Param(1), v], graph=False
    ),
    "a structure without a state": lambda lib: lib.merge(lib.split(both(lib))[0]),
    "a plain state after one that knows its graph": lambda lib: lib.merge(
        lib.unpack(both(lib)), lib.state(both(lib))
    ),
    **{
        f"what is no pytree in {name}": (
            lambda lib, name=name, args=args: list(
                getattr(lib, name)(*args, lib.List([opaque(lib)]), graph=False)
            )
        )
        for name, args in {
            "iter_graph": (),
            "recursive_map": (lambda path, x: x,),
        }.items()
    },
    "a module for the positions of arguments": lambda lib: lib.grad(lambda m: m, argnums=both(lib)),
    "first arguments that share, in trees": lambda lib: lib.jit_partial(
        lambda x, y: 0, v := lib.Param(1), v, graph=False
    ),
    "children of what is no pytree": lambda lib: list(lib.iter_children(opaque(lib), graph=False)),
}


@pytest.mark.parametrize("case", CASES)
def test_errors_are_of_the_kind_that_flax_raises(case):
    found = []
    for library in (nnx, flax_nnx):
        with pytest.raises(Exception) as raised:
            CASES[case](library)
        found.append(raised.type)
    ours, theirs = found
    names = {theirs.__name__, *(x.__name__ for x in theirs.__mro__ if x.__module__ == "builtins")}
    assert {x.__name__ for x in ours.__mro__} & (names - {"object", "BaseException", "Exception"})


def test_refusals_say_where():
    with pytest.raises(ValueError, match=r"or DiffState, but got a Dict\. Pass the position"):
        nnx.grad(lambda m: m, argnums=both(nnx))
    with pytest.raises(ValueError, match=r"nnx\.clone: Opaque is .* Found at path \[0\]\. Define"):
        nnx.clone([opaque(nnx)], graph=False)
    with pytest.raises(TypeError, match=r"no state is given, but the graph needs a, b\. Pass all"):
        nnx.merge(nnx.graphdef(both(nnx)))
    with pytest.raises(
        ValueError, match=r"knows its graph, .* but a State follows\. Pass states of"
    ):
        nnx.merge(nnx.unpack(both(nnx)), nnx.state(both(nnx)))


@pytest.mark.parametrize("graph", [True, False])
def test_loops_refuse_a_variable_in_the_place_of_another(graph):
    def replace(state):
        module, count = state
        module.a = nnx.Param(module.a * 2)
        return module, count - 1

    with pytest.raises(nnx.GraphError, match=r"while_loop carries changes .*: an attribute holds"):
        nnx.while_loop(
            lambda state: state[1] > 0, replace, (both(nnx), 2), graph=graph, graph_updates=False
        )


def test_prefixes_of_graphs_are_for_pmap_too():
    layer = nnx.Dict(kernel=nnx.Param(jnp.ones((1, 3))), mean=nnx.BatchStat(jnp.ones(3)))
    axes = nnx.prefix(layer, {nnx.Param: 0, ...: None}, graph=True)
    mapped = nnx.pmap(
        lambda m: m.kernel * m.mean, in_axes=(axes,), axis_size=1, graph=True, graph_updates=False
    )
    assert mapped(layer).shape == (1, 3)


@pytest.mark.parametrize("graph", [True, False])
def test_prefixes_of_states_are_states(graph):
    layer = nnx.State({"kernel": nnx.Param(jnp.ones((2, 3))), "mean": nnx.BatchStat(jnp.ones(3))})
    axes = nnx.State({"kernel": 0, "mean": None})
    mapped = nnx.vmap(
        lambda m: m.kernel * m.mean, in_axes=(axes,), graph=graph, graph_updates=False
    )
    assert mapped(layer).shape == (2, 3)


def test_references_are_not_shared_in_trees():
    ref = bindax.new_ref(np.float32(1.0))
    with pytest.raises(ValueError, match=r"Duplicate Ref found at paths \[0\] and \[1\]"):
        nnx.split([ref, ref], graph=False)


def test_keys_are_close_where_they_are_equal():
    one, other = bindax.random.key(0), bindax.random.key(1)
    assert bool(jnp.allclose(one, one))
    assert not bool(jnp.allclose(one, other))
