"""Calls that are made in the same words with bindax and with JAX, whose answers are stored.

A table is a namespace, operands by name, and calls as text. `make_references.py` of a package has
JAX evaluate them, with 32 and with 64 bits, and differentiate them; tests need no JAX.
"""

import contextlib
import importlib
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from jax_calls import FAST_COMPILER, WIDER, split_calls

import bindax as bx
from bindax_core.extend import tree_leaves, typeof

# Relative to the largest element.
TOLERANCE = {1: 0.2, 2: 1e-2, 4: 1e-4, 8: 1e-9}
STORABLE = "biufc"
# To compile each operation that NumPy has no function for takes longer than all else.
BACKEND = None if os.environ.get("BINDAX_NIGHTLY") else "numpy"


def operand(shape: Any, dtype: str, seed: int, low: float = -2.0, high: float = 2.0) -> Any:
    """Random numbers of a dtype between two bounds."""
    random = np.random.default_rng(seed)
    drawn = random.uniform(low, high, shape)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return random.uniform(size=shape) > 0.5
    if kind == "c":
        drawn = drawn + 1j * random.uniform(low, high, shape)
    return np.asarray(np.round(drawn) if kind in "iu" else drawn).astype(dtype)


class Table:
    """Calls of one namespace.

    Args:
        namespaces: modules below the root of either package whose names the calls use.
        operands: arrays by name; those of 32 bits are made wider for the calls in 64 bits.
        calls: the calls.
        gradients: the calls that are differentiated with respect to A, in 64 bits.
        eager: calls that are not staged, as they need values.
        tolerances: other tolerances, by the size of the dtype in bytes.
        zeros: calls whose derivative is zero where that of JAX is nan.
        unknown: calls that have results where JAX's are nan.
    """

    def __init__(
        self,
        namespaces: str,
        operands: dict[str, Any],
        calls: str,
        gradients: str = "",
        eager: str = "",
        tolerances: dict[int, float] | None = None,
        zeros: str = "",
        unknown: str = "",
    ) -> None:
        self.namespaces, self.tolerances = namespaces.split(), TOLERANCE | (tolerances or {})
        self.calls, self.gradients = split_calls(calls), split_calls(gradients)
        self._operands = operands
        self.eager = split_calls(eager)
        self.zeros, self.unknown = split_calls(zeros), split_calls(unknown)
        assert set(self.eager) <= set(self.calls)
        assert set(self.zeros) <= set(self.gradients)
        assert set(self.unknown) <= set(self.calls)

    def wanted(self, call: str, found: Any, value: Any) -> Any:
        """The stored value, or where it is not known what was found."""
        return np.where(np.isnan(value), found, value) if call in self.unknown else value

    def operands(self, bits: int) -> dict[str, Any]:
        """The operands, wider ones for 64 bits."""
        if bits == 32:
            return self._operands
        return {k: v.astype(WIDER.get(v.dtype.name, v.dtype)) for k, v in self._operands.items()}

    def evaluate(self, call: str, root: str, operands: dict[str, Any]) -> Any:
        """The result of a call with the package of that name."""
        return eval(call, {**self.names(root), "np": np, "jnp": numpy_of(root), **operands})

    def in_jax(self, call: str, operands: dict[str, Any]) -> Any:
        """The result of a call with JAX."""
        return self.evaluate(call, "jax", operands)

    def names(self, root: str) -> dict[str, Any]:
        """Give the names that the calls may use."""
        names: dict[str, Any] = {}
        for space in self.namespaces:
            module = importlib.import_module(f"{root}.{space}")
            names |= {n: getattr(module, n) for n in dir(module) if not n.startswith("_")}
            names.setdefault(space.rpartition(".")[2], module)
        return names

    def staged(self, call: str) -> list[Any]:
        """The results of a call as a staged program, interpreted."""

        def program(operands: dict[str, Any]) -> list[Any]:
            return tree_leaves(self.evaluate(call, "bindax", operands))

        return bx.jit(program, backend="numpy")(self.operands(32))

    def loss(self, call: str, root: str, operands: dict[str, Any], leaves: Any) -> Any:
        """A number that depends on every element of the results of a call, as a function of A."""
        module = numpy_of(root)

        def function(A: Any) -> Any:
            total = 0.0
            for x in leaves(self.evaluate(call, root, {**operands, "A": A})):
                if np.dtype(x.dtype).kind in "fc":
                    weights = np.cos(np.arange(math.prod(x.shape))).reshape(x.shape)
                    total = total + module.sum(weights * (module.real(x) + 0.5 * module.imag(x)))
            return total

        return function


def numpy_of(root: str) -> Any:
    """The namespace of NumPy's functions of a package."""
    return importlib.import_module(f"{root}.numpy")


# ---------------------------------------------------------------------------- what is stored


def store(path: Path, tables: dict[str, Table]) -> None:
    """Have JAX evaluate and differentiate all calls, and store what it gives."""
    import jax

    arrays: dict[str, Any] = {}
    types: dict[str, Any] = {}

    def keep(key: str, out: Any) -> None:
        found = jax.tree.leaves(out)
        types[key] = [(np.dtype(x.dtype).name, bool(x.aval.weak_type)) for x in found]
        for i, x in enumerate(found):
            value = np.asarray(x)
            plain = value.dtype.kind in STORABLE and value.dtype.isbuiltin == 1
            arrays[f"{key}|{i}"] = value if plain else value.astype(np.float32)

    def compiled(name: str, kind: Any, calls: list[str], make: Any, argument: Any) -> None:
        # One program for all calls is compiled much faster than one for each.
        def program(argument: Any) -> list[Any]:
            outs = []
            for call in calls:
                with naming(name, str(kind), call):
                    outs.append(make(call, argument))
            return outs

        found = jax.jit(program, compiler_options=FAST_COMPILER)(argument)
        for call, out in zip(calls, found, strict=True):
            keep(f"{name}|{kind}|{call}", out)

    for name, table in tables.items():
        for bits in (32, 64):
            with jax.enable_x64(bits == 64):
                operands = table.operands(bits)
                staged = [call for call in table.calls if call not in table.eager]
                compiled(name, bits, staged, table.in_jax, operands)
                for call in table.eager:
                    with naming(name, call):
                        keep(f"{name}|{bits}|{call}", table.in_jax(call, operands))
        with jax.enable_x64(True):
            operands = table.operands(64)

            def gradient(call: str, A: Any, table: Table = table, operands: Any = operands) -> Any:
                return jax.grad(table.loss(call, "jax", operands, jax.tree.leaves))(A)

            compiled(name, "gradient", table.gradients, gradient, operands["A"])
    np.savez_compressed(path, types=np.array(json.dumps(types)), **arrays)


@contextlib.contextmanager
def naming(*words: str) -> Iterator[None]:
    """Add words to an error."""
    try:
        yield
    except Exception as error:
        error.add_note(", ".join(words))
        raise


class References:
    """The stored answers."""

    def __init__(self, path: Path) -> None:
        self._file = np.load(path)
        self._types = json.loads(str(self._file["types"]))

    def leaves(self, table: str, kind: Any, call: str) -> list[tuple[Any, str, bool]]:
        """Values, dtypes and weak types of the results of a call."""
        key = f"{table}|{kind}|{call}"
        return [
            (self._file[f"{key}|{i}"], dtype, weak)
            for i, (dtype, weak) in enumerate(self._types[key])
        ]


# -------------------------------------------------------------------------------- checks


def check_evaluated(table: Table, name: str, call: str, references: References, bits: int) -> None:
    """Compare values, shapes, dtypes and weak types of a call with the stored ones."""
    with bx.config.override(default_dtype_bits=bits, backend=BACKEND), np.errstate(all="ignore"):
        found = tree_leaves(table.evaluate(call, "bindax", table.operands(bits)))
    wanted = references.leaves(name, bits, call)
    assert len(found) == len(wanted)
    for x, (value, dtype, weak) in zip(found, wanted, strict=True):
        aval = typeof(x)
        assert (aval.shape, aval.dtype.name, aval.weak_type) == (value.shape, dtype, weak)
        check_close(x, table.wanted(call, x, value), table.tolerances)


def check_staged(table: Table, name: str, call: str, references: References) -> None:
    """Compare the values of a staged call with the stored ones."""
    wanted = references.leaves(name, 32, call)
    with bx.config.override(backend=BACKEND):
        found = table.staged(call)
    for x, (value, dtype, weak) in zip(found, wanted, strict=True):
        assert (typeof(x).dtype.name, typeof(x).weak_type) == (dtype, weak)
        check_close(x, table.wanted(call, x, value), table.tolerances)


def check_gradient(table: Table, name: str, call: str, references: References) -> None:
    """Compare the derivative of a call with respect to A with the stored one."""
    operands = table.operands(64)
    with bx.config.override(default_dtype_bits=64, backend=BACKEND), np.errstate(all="ignore"):
        found = bx.grad(table.loss(call, "bindax", operands, tree_leaves))(operands["A"])
    ((value, _, _),) = references.leaves(name, "gradient", call)
    if call in table.zeros:
        assert np.isnan(value).any()
        value = np.nan_to_num(value)
    check_close(found, value, table.tolerances)


def check_close(found: Any, wanted: Any, tolerances: dict[int, float]) -> None:
    """Compare values: integers exactly, others relative to the largest of them."""
    a, b = np.asarray(found), np.asarray(wanted)
    if b.dtype.kind in "biu":
        np.testing.assert_array_equal(a, b)
        return
    size = a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)
    wide = np.complex128 if b.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = abs(b[np.isfinite(b)])
    tolerance = tolerances[size]
    np.testing.assert_allclose(
        a, b, rtol=tolerance, atol=tolerance * max(finite.max(initial=0.0), 1e-3)
    )


def checks(tables: dict[str, Table]) -> list[tuple[str, str, str]]:
    """All that is to be compared: table, check, call.

    Calls begin with different checks, so that each third of the list has all calls and all checks.
    """
    found = []
    for name, table in tables.items():
        for i, call in enumerate(dict.fromkeys(table.calls + table.gradients)):
            kinds = [
                ("32 bits", table.calls),
                ("64 bits", table.calls),
                ("staged", [c for c in table.calls if c not in table.eager]),
                ("gradient", table.gradients),
            ]
            made = [check for check, calls in kinds if call in calls]
            start = i % len(made)
            found += [(name, check, call) for check in made[start:] + made[:start]]
    return found


def run_check(
    tables: dict[str, Table], references: References, name: str, check: str, call: str
) -> None:
    """Make one of the comparisons."""
    table = tables[name]
    if check == "gradient":
        check_gradient(table, name, call, references)
    elif check == "staged":
        check_staged(table, name, call, references)
    else:
        check_evaluated(table, name, call, references, int(check[:2]))
