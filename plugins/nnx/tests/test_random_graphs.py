"""Random graphs through random chains of transformations, beside the same program on states.

The reference knows no graph: it is a dictionary from names of attributes to numbers of cells, and a
dictionary of what the cells hold, changed by the same random program one step after the other.
"""

import os
import random

import numpy as np
import pytest

import bindax.numpy as jnp
from bindax import nnx
from bindax_nnx.graph import GraphTraversal
from bindax_nnx.lift.cached_structure import plan_of

COUNT = int(os.environ.get("BINDAX_RANDOM_GRAPHS", "200"))
MODES: dict[str, dict[str, bool]] = {
    "updates": {"graph": True, "graph_updates": True},
    "graph": {"graph": True, "graph_updates": False},
    "tree": {"graph": False, "graph_updates": False},
}
TRANSFORMATIONS = ("plain", "jit", "vmap", "scan", "cond", "grad", "remat")


class Node(nnx.Module):
    pass


class Cell(nnx.Variable):
    pass


def make_graph(rng, shared=True):
    """A graph of nodes and cells with shared parts and cycles, or a tree."""
    nodes = [Node() for _ in range(rng.randint(1, 4))]
    cells = [Cell(np.full(2, float(i), "f4")) for i in range(rng.randint(1, 4))]
    for i, node in enumerate(nodes[1:], 1):
        setattr(nodes[rng.randrange(i)], f"child{i}", node)
    for i, cell in enumerate(cells):
        setattr(rng.choice(nodes), f"cell{i}", cell)
    for i in range(rng.randint(0, 3)):
        extra = rng.choice(nodes + cells) if shared else Cell(np.full(2, 0.5, "f4"))
        setattr(rng.choice(nodes), f"extra{i}", extra)
    if rng.random() < 0.4:
        item = rng.choice(nodes + cells) if shared else Node()
        rng.choice(nodes).items = [item, rng.randint(0, 3), "text"]
    return nodes[0]


def reachable(root):
    """The nodes and cells that can be reached, in an order that depends on the structure alone."""
    found = [x for _, x in nnx.iter_graph(root)]
    nodes = [x for x in found if isinstance(x, Node)]
    return nodes, [x for x in found if isinstance(x, Cell)]


def make_program(rng, graph_changes, length=6):
    kinds = ["add", "scale", "read"]
    if graph_changes:
        kinds += ["share", "delete", "swap", "new", "static", "append"]
    return [(rng.choice(kinds), *(rng.random() for _ in range(4))) for _ in range(length)]


def pick(items, x):
    return items[int(x * len(items))] if items else None


def run(program, root, x):
    """Change a graph as a program says; gives a number that depends on the cells."""
    total = x
    for kind, a, b, c, d in program:
        nodes, cells = reachable(root)
        node, cell = pick(nodes, a), pick(cells, b)
        if kind == "add" and cell is not None:
            cell.value = cell.value + (c + x)
        elif kind == "scale" and cell is not None:
            cell.value = cell.value * (0.5 + c)
        elif kind == "read" and cell is not None:
            total = total + (cell.value * cell.value).sum()
        elif kind == "share":
            setattr(node, f"shared{int(c * 3)}", pick(nodes + cells, d))
        elif kind == "delete":
            names = sorted(node.__dict__)
            if names:
                delattr(node, pick(names, c))
        elif kind == "swap":
            names = sorted(node.__dict__)
            one, two = pick(names, c), pick(names, d)
            if one is not None:
                first, second = getattr(node, one), getattr(node, two)
                setattr(node, one, second)
                setattr(node, two, first)
        elif kind == "new":
            setattr(node, f"new{int(c * 3)}", Cell(total * np.ones(2, "f4")))
        elif kind == "static":
            setattr(node, f"static{int(c * 3)}", int(d * 10))
        elif kind == "append" and isinstance(getattr(node, "items", None), list):
            node.items.append(pick(nodes + cells, d))
    return total


def signature(root):
    """Structure, sharing and values of a graph, comparable with those of another one."""
    walk = nnx.graphdef(root)
    return walk.tokens, [np.asarray(x) for _, x in nnx.iter_graph(root) if isinstance(x, Cell)]


def apply(name, program, root, x, mode):
    """Run a program under a transformation."""
    if name == "plain":
        return run(program, root, x)
    if name == "jit":
        compiled = nnx.jit(lambda root, x: run(program, root, x), **mode)
        return compiled(root, x)
    if name == "remat":
        return nnx.remat(lambda root, x: run(program, root, x), **mode)(root, x)
    if name == "vmap":
        mapped = nnx.vmap(
            lambda root, x: run(program, root, x),
            in_axes=(None, None),
            out_axes=None,
            axis_size=2,
            **mode,
        )
        return mapped(root, x)
    if name == "scan":
        step = nnx.scan(
            lambda root, x: (root, run(program, root, x)),
            in_axes=(nnx.Carry, 0),
            out_axes=(nnx.Carry, 0),
            **mode,
        )
        return step(root, x[None])[1][0]
    if name == "cond":
        return nnx.cond(
            True,
            lambda root, x: run(program, root, x),
            lambda root, x: run(program, root, x),
            root,
            x,
            **mode,
        )
    holder = []

    def loss(root, x):
        out = run(program, root, x)
        holder.append(None)
        return out, out

    _, out = nnx.grad(loss, argnums=1, has_aux=True, **mode)(root, x)
    return out


@pytest.mark.every(2)
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize(
    "mode", [x if x == "tree" else pytest.param(x, marks=pytest.mark.graph) for x in MODES]
)
def test_transformed_programs_change_graphs_as_plain_ones_do(mode, part):
    count = COUNT if mode == "updates" or COUNT > 200 else COUNT // 10  # all by night
    for seed in range(part, count, 4):
        check(seed, mode)


def check(seed, mode):
    rng = random.Random(seed)
    root = make_graph(rng, shared=mode != "tree")
    expected = nnx.clone(root)
    assert_same(root, expected)
    outer, _ = reachable(root)
    x = np.float32(rng.random())
    for _ in range(2):
        name = rng.choice(TRANSFORMATIONS)
        program = make_program(rng, graph_changes=mode == "updates" and name != "scan")
        found = apply(name, program, root, x, MODES[mode])
        np.testing.assert_allclose(found, run(program, expected, x), rtol=1e-4)
        assert_same(root, expected)
        x = np.float32(rng.random())
    assert outer[-1] is root


def assert_same(root, expected):
    tokens, values = signature(root)
    expected_tokens, expected_values = signature(expected)
    assert tokens == expected_tokens
    for value, other in zip(values, expected_values, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-4)


@pytest.mark.graph
def test_what_jit_keeps_of_a_graph_follows_its_changes():
    followed = 0
    for seed in range(200):
        rng = random.Random(seed)
        root = make_graph(rng)
        root.flag, root.rate = True, 1.0
        plan = plan_of((root,))
        spare = rng.choice([Cell(np.zeros(2, "f4")), 7, Node()])
        for _ in range(8):
            exchange(rng, root, spare)
            kept = plan_of((root,))
            followed += kept is plan
            plan = kept
            walk = GraphTraversal()
            walk.value(root)
            assert plan.structure.tokens == walk.structure()
            assert list(map(id, plan.references)) == list(map(id, walk.references))
            assert list(map(id, plan.variables)) == list(map(id, walk.variables))
    assert followed > 300


def exchange(rng, root, spare):
    """Change an attribute, most often to one like it."""
    nodes, cells = reachable(root)
    node = rng.choice(nodes)
    kinds = ["flag", "flag", "rate", "cell", "cell", "metadata", "tree", "program", "toggle"]
    kind = rng.choice([*kinds, "toggle", "toggle"])
    if kind == "toggle":
        if hasattr(root, "spare"):
            del root.spare
        else:
            root.spare = spare
    elif kind == "flag":
        root.flag = rng.choice([True, 1, 2, "text", None, 0.0, -0.0])
    elif kind == "rate":
        root.rate = rng.random()
    elif kind == "cell":
        names = sorted(k for k, x in node.__dict__.items() if isinstance(x, Cell))
        if names:
            new = Cell(jnp.zeros(2)) if rng.random() < 0.7 else rng.choice(cells)
            setattr(node, rng.choice(names), new)
    elif kind == "metadata" and cells:
        rng.choice(cells).set_metadata(role=rng.randint(0, 2))
    elif kind == "tree" and cells:
        rng.choice(cells).value = rng.choice([jnp.zeros(2), (jnp.zeros(2), 1.0), np.float32(1)])
    else:
        run([("delete", *(rng.random() for _ in range(4)))], root, 0.0)
        root.flag, root.rate = True, 1.0


def test_a_graph_that_is_as_it_was_has_the_plan_that_it_had():
    root = Node()
    root.cell = Cell(jnp.zeros(2))
    first = plan_of((root,))
    root.extra = extra = Cell(jnp.ones(2))
    second = plan_of((root,))
    assert second is not first
    del root.extra
    assert plan_of((root,)) is first
    root.extra = extra
    assert plan_of((root,)) is second
    extra.set_metadata(role="other")
    assert plan_of((root,)).structure is not second.structure


def test_exchanged_attributes_meet_the_program_that_was_traced_for_them():
    class Model(nnx.Module):
        def __init__(self):
            self.kernel, self.train = nnx.Param(jnp.ones(2)), True

    model, traces = Model(), []

    @nnx.jit
    def apply(model):
        traces.append(model.train)
        model.kernel.value = model.kernel.value + 1
        return model.kernel.value.sum() * (2.0 if model.train else 1.0)

    found = []
    for i in range(6):
        model.train = i % 2 == 0
        if i % 3 == 2:
            model.kernel = nnx.Param(jnp.zeros(2))
        found.append(float(apply(model)))
    assert found == [8.0, 6.0, 4.0, 4.0, 12.0, 2.0]
    assert traces == [True, False]


@pytest.mark.graph
def test_objects_taken_out_of_a_graph_are_updated_too():
    root = Node()
    root.child = child = Node()
    child.cell = cell = Cell(np.float32(1))

    @nnx.jit
    def detach(root):
        root.child.cell.value = root.child.cell.value + 1
        root.child.mark = "detached"
        del root.child

    detach(root)
    assert not hasattr(root, "child")
    assert child.mark == "detached"
    assert child.cell is cell
    assert float(cell) == 2


@pytest.mark.graph
def test_cycles_and_shared_parts_keep_their_identity():
    root = Node()
    root.self = root
    root.a = root.b = Cell(np.float32(1))
    out = nnx.jit(lambda root: root)(root)
    assert out is root
    assert root.self is root
    assert root.a is root.b
    copy = nnx.clone(root)
    assert copy.self is copy
    assert copy.a is copy.b
    assert copy.a is not root.a
