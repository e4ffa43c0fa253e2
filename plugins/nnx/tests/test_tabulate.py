"""Tables of calls, against those of Flax."""

import numpy as np
import pytest

import bindax_numpy as jnp
from bindax import nnx

flax_nnx = pytest.importorskip("flax.nnx", reason="the library to compare with")
jax = pytest.importorskip("jax", reason="what that is made of")
PLAIN = {"force_terminal": False, "no_color": True, "width": 10_000}


def model_of(library):
    class Block(library.Module):
        def __init__(self, rngs):
            self.linear = library.Linear(3, 4, rngs=rngs)
            self.norm = library.BatchNorm(4, rngs=rngs)
            self.dropout = library.Dropout(0.5, rngs=rngs)

        def forward(self, x, scale):
            return {"y": self.dropout(self.norm(self.linear(x))) * scale["by"]}

    class Model(library.Module):
        def __init__(self, rngs):
            self.first = Block(rngs)
            self.shared = self.first.linear

        def __call__(self, x, *, twice):
            if twice:
                self.first.forward(x, {"by": x[:, :1]})
            return self.first.forward(x, {"by": x[:, :1]}), self.shared(x)

    return Model(library.Rngs(0))


def cells(table):
    """The first line of each row of a table, and the lines below, by cell."""
    lines = [line.strip() for line in table.splitlines() if line.strip()]
    kept = [x.replace("┃", "│").split("│")[1:-1] for x in lines if x[0] in "┃│"]
    return [[cell.strip() for cell in row] for row in kept]


@pytest.mark.graph
def test_tables_are_those_of_flax():
    x = np.ones((2, 3), np.float32)
    ours = nnx.tabulate(model_of(nnx), jnp.asarray(x), twice=True)
    reference = model_of(flax_nnx)
    theirs = flax_nnx.tabulate(reference, jax.numpy.asarray(x), twice=True, console_kwargs=PLAIN)
    assert cells(ours) == cells(theirs)
    assert ours.splitlines()[0].strip() == theirs.splitlines()[0].strip() == "Model Summary"
    assert ours.splitlines()[-1].strip() == theirs.splitlines()[-1].strip()
    assert "Total Parameters: 34 (140 B)" in ours


class Empties(nnx.Module):
    def rest(self, x, options, *, default=None):
        return x

    def sum(self, x, y):
        return self.rest(x, {}) + self.rest(y, (), default=[{"a": None}])

    def __call__(self, x):
        return self.sum(x, 2)


@pytest.mark.graph
def test_rows_are_chosen_by_depth_method_or_function():
    x = jnp.ones((2, 3), "float32")
    model = model_of(nnx)
    shallow = nnx.tabulate(model, x, twice=False, depth=1)
    assert [row[0] for row in cells(shallow)[1:] if row[1]] == [""]
    linear = nnx.tabulate(
        model, x, twice=False, row_filter=lambda call: call.type.__name__ == "Linear"
    )
    assert [row[0] for row in cells(linear)[1:] if row[1]] == ["first/linear"]
    named = nnx.tabulate(model.first, x, {"by": x[:, :1]}, method="forward", depth=1)
    assert [row[0] for row in cells(named)[1:] if row[1]][:2] == ["forward", "linear"]
    assert model.first.norm.mean.value.tolist() == [0.0] * 4


def test_empty_containers_and_numbers_are_shown():
    table = nnx.tabulate(Empties(), jnp.ones(3, "float32"))
    inputs = [row[2] for row in cells(table)]
    for wanted in ("- {}", "- ()", "- 2", "default:", "- a: None"):
        assert wanted in inputs


def test_operations_are_counted_in_one_trace():
    traced = []

    class Model(nnx.Module):
        def __init__(self):
            self.linear = nnx.Linear(3, 4, rngs=nnx.Rngs(0))

        def __call__(self, x):
            traced.append(x)
            return self.linear(x)

    x = jnp.ones((2, 3), "float32")
    table = cells(nnx.tabulate(Model(), x, compute_flops=True, compute_vjp_flops=True))
    assert table[0][4:6] == ["flops", "vjp_flops"]
    counts = {row[0]: tuple(map(int, row[4:6])) for row in table[1:] if row[1]}
    matrix, bias = 2 * 2 * 3 * 4, 2 * 4
    assert counts["linear"][0] == counts[""][0] == matrix + bias
    assert counts["linear"][1] > 2 * matrix
    assert len(traced) == 1


def test_models_of_types_have_the_same_table():
    make = lambda: nnx.BatchNorm(4, rngs=nnx.Rngs(0))  # noqa: E731
    x = jnp.ones((2, 4), "float32")
    assert nnx.tabulate(nnx.eval_shape(make), x) == nnx.tabulate(make(), x)
