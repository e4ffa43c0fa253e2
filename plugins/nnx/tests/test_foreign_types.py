"""Types of packages that announce them by entry points."""

import os
import subprocess
import sys
import textwrap

import pytest

TYPES = """
class Cell:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)

class Other(Cell):
    pass
"""
NODES = """
import bindax_nnx
from foreign_types import Cell

print("loaded")
bindax_nnx.register_graph_node(
    Cell,
    lambda cell: (vars(cell), None),
    lambda metadata: Cell(),
    lambda cell, attributes: (cell.__dict__.clear(), cell.__dict__.update(attributes)),
)
"""
USE = """
import foreign_types
import bindax.numpy as jnp
from bindax import nnx

class Model(nnx.Module):
    def __init__(self):
        self.cell = self.same = foreign_types.Cell(weight=nnx.Param(jnp.ones(2)), steps=0)

model = Model()
cell, weight = model.cell, model.cell.weight
print("made")

@nnx.jit
def step(model, cell):
    model.cell.weight.value = model.cell.weight.value + 1
    cell.steps = cell.steps + 1
    model.cell.last = nnx.Variable(cell.weight.value.sum())
    assert model.cell is cell

for _ in range(2):
    step(model, cell)
assert model.cell is model.same is cell and cell.weight is weight
print(cell.steps, weight.value.tolist(), float(cell.last), sorted(nnx.state(model)["cell"]))
graph, state = nnx.split(model)
copy = nnx.merge(graph, state)
assert copy.cell is copy.same is not cell
print([path for path, x in nnx.iter_graph(model) if isinstance(x, foreign_types.Cell)])
"""


def add_distribution(directory, name, entry_points, **modules):
    """A package as an installer leaves it: modules beside the metadata."""
    for module, text in modules.items():
        (directory / f"{module}.py").write_text(text, encoding="utf-8")
    metadata = directory / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(
        "[bindax_nnx.v1.graph_nodes]\n" + "".join(f"{k} = {v}\n" for k, v in entry_points.items()),
        encoding="utf-8",
    )


def run(directory, program):
    environment = {**os.environ, "PYTHONPATH": str(directory)}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.graph
def test_a_type_is_registered_when_it_is_first_met(tmp_path):
    entry = {"foreign_types.Cell": "foreign_nodes"}
    add_distribution(tmp_path, "foreign", entry, foreign_types=TYPES, foreign_nodes=NODES)
    done = run(tmp_path, USE)
    assert done.stdout.splitlines() == [
        "made",
        "loaded",
        "2 [3.0, 3.0] 6.0 ['last', 'weight']",
        "[('cell',)]",
    ], done.stderr


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            {"foreign": "foreign_nodes", "foreigntwo": "foreign_types"},
            (
                "several packages announce foreign_types.Cell as a graph node: the entry point "
                "'foreign_nodes' of foreign 1.0 and the entry point 'foreign_types' of foreigntwo "
                "1.0. Uninstall all but one."
            ),
        ),
        (
            {"foreign": "foreign_broken"},
            (
                "the entry point 'foreign_broken' of foreign 1.0 announces foreign_types.Cell as a "
                "graph node, but cannot be loaded: ZeroDivisionError('division by zero')."
            ),
        ),
        (
            {"foreign": "foreign_types"},
            (
                "the entry point 'foreign_types' of foreign 1.0 announces foreign_types.Cell as a "
                "graph node, but loading it does not call register_graph_node with this type."
            ),
        ),
    ],
    ids=["two", "broken", "silent"],
)
def test_a_bad_announcement_says_whose_it_is(entries, message, tmp_path, monkeypatch):
    from bindax_nnx import external_nodes, split

    modules = {"foreign_types": TYPES, "foreign_nodes": NODES, "foreign_broken": "1 / 0\n"}
    for name, value in entries.items():
        add_distribution(tmp_path, name, {"foreign_types.Cell": value}, **modules)
    monkeypatch.syspath_prepend(tmp_path)
    external_nodes._announced.cache_clear()
    try:
        from foreign_types import Cell

        with pytest.raises(external_nodes.GraphError) as info:
            split(Cell())
        assert str(info.value) == message
    finally:
        external_nodes._announced.cache_clear()
        for name in modules:
            sys.modules.pop(name, None)
