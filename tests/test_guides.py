"""What the guides claim of the same primitive in bindax and in JAX."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bindax
from bindax_testing import array, check_rules, sample

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guides/primitive.md"
PORTING = ROOT / "docs/guides/porting.md"
MODULES = {
    "jax.extend.core",
    "jax.extend.mlir.dialects",
    "jax.interpreters.ad",
    "jax.interpreters.batching",
    "jax.interpreters.mlir",
    "jax.interpreters.xla",
}


def program(fence: str, page: Path = PAGE) -> str:
    """The first block of a page with a fence."""
    found = re.search(
        rf"^```{fence}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert found is not None
    return found[1]


def lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def ran(text: str) -> Any:
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(text, str(PAGE), "exec"), names)
    return SimpleNamespace(**names)


def results(library: Any, shift: Any) -> list[Any]:
    x = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
    computed = [
        shift(x, 1),
        library.jit(lambda x: shift(x, -2))(x),
        library.vmap(lambda row: shift(row, 1), in_axes=1, out_axes=1)(x),
        library.grad(lambda x: (shift(x, 1) ** 2 * x).sum())(x),
        library.jvp(lambda x: shift(x, 3), (x,), (2 * x,))[1],
        library.jit(library.vmap(library.grad(lambda row: (shift(row, 1) * row).sum())))(x),
    ]
    return [np.asarray(out) for out in computed]


def test_the_lines_are_counted_right() -> None:
    text = PAGE.read_text(encoding="utf-8")
    own, other = lines(program("python")), lines(program("py"))
    assert own <= 40
    assert f"in {own} lines" in text
    assert f"{other} lines, and six modules" in text
    assert f"| lines | {own} | {other} |" in text


def test_bindax_needs_public_names_alone_and_jax_does_not() -> None:
    imported = re.findall(r"^(?:from|import) (\S+)(?: import (.*))?$", program("py"), re.MULTILINE)
    covered = {"numpy", "jax", "jax.numpy", "functools"}
    found = set()
    for module, names in imported:
        if module == "jax.interpreters":
            found |= {f"{module}.{name}" for name in names.split(", ")}
        elif module not in covered:
            found.add(module)
    assert found == MODULES
    own = re.findall(r"^(?:from|import) (\S+)", program("python"), re.MULTILINE)
    assert set(own) <= {"numpy", "bindax", "bindax.extend", "bindax.numpy"}
    assert not any("_" in part[:1] for name in own for part in name.split("."))


def test_both_compute_the_same() -> None:
    jax = pytest.importorskip("jax", reason="the guide compares with JAX")
    own = results(bindax, ran(program("python")).shift)
    other = results(jax, ran(program("py")).shift)
    for mine, theirs in zip(own, other, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


def ported_results(library: Any, guide: Any) -> list[Any]:
    x = np.linspace(-2.0, 3.0, 12, dtype=np.float32).reshape(4, 3)
    eps = np.float32(0.5)

    def loss(x: Any, eps: Any) -> Any:
        return (guide.every(guide.smooth_abs(x, eps), 2) ** 2).sum()

    computed = [
        guide.smooth_abs(x, eps),
        guide.every(x, 3),
        library.jit(lambda x: guide.every(guide.smooth_abs(x, x), 2))(x),
        library.vmap(lambda column: guide.every(column, 2), in_axes=1)(x),
        library.vmap(guide.smooth_abs, in_axes=(0, None))(x, x[0]),
        library.jvp(loss, (x, eps), (x, eps))[1],
        *library.grad(loss, argnums=(0, 1))(x, eps),
        library.jit(library.vmap(library.grad(loss), in_axes=(1, None)))(x, eps),
    ]
    return [np.asarray(out) for out in computed]


def test_a_ported_primitive_computes_the_same() -> None:
    jax = pytest.importorskip("jax", reason="the guide compares with JAX")
    own = ported_results(bindax, ran(program("python", PORTING)))
    other = ported_results(jax, ran(program("py", PORTING)))
    for mine, theirs in zip(own, other, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def counterparts() -> list[str]:
    """The names that the table of the page gives for those of JAX."""
    rows = re.findall(r"^\| .* \| (.*) \|$", PORTING.read_text(encoding="utf-8"), re.MULTILINE)
    code = [text for row in rows for text in re.findall(r"`([^`]*)`", row)]
    return [
        name[1]
        for text in code
        if (name := re.match(r"(?:\w+ = )?(?:rules\.)?([A-Za-z]\w*)", text))
        and name[1] not in OTHER_NAMES
    ]


OTHER_NAMES = {"None", "bindax", "ctx", "f", "symbolic_zeros", "x"}
"""What the table mentions besides public functions: values, operands, the lowering context."""


def test_what_the_table_names_is_public() -> None:
    from bindax import extend
    from bindax_lax_basic import extend as words

    names = counterparts()
    assert len(names) > 40
    places = (extend, extend.rules, words)
    assert [name for name in names if not any(hasattr(place, name) for place in places)] == []
    columns = re.findall(r"`(ctx\.(\w+))", PORTING.read_text(encoding="utf-8"))
    assert {method for _, method in columns} <= set(dir(extend.LoweringContext))


def test_what_the_table_calls_the_same_is() -> None:
    jax = pytest.importorskip("jax", reason="the guide compares with JAX")
    same = re.findall(
        r"^\| (.*) \| the same,.*\|$", PORTING.read_text(encoding="utf-8"), re.MULTILINE
    )
    paths = [path for row in same for path in re.findall(r"`jax\.([\w.]+)`", row)]
    assert len(paths) >= 9
    for path in paths:
        for library in (jax, bindax):
            found = library
            for name in path.split("."):
                found = getattr(found, name)
            assert callable(found)


def test_pictures_are_drawn_by_their_program(tmp_path: Path) -> None:
    folder = ROOT / "docs/pictures"
    program: dict[str, Any] = runpy.run_path(str(folder / "draw.py"))
    drawn = program["draw"](tmp_path)
    shown = re.findall(
        r"\.\./pictures/(\w+\.svg)", (ROOT / "docs/guides/rules.md").read_text(encoding="utf-8")
    )
    assert [file.name for file in drawn] == shown
    first = drawn[-1].read_bytes()
    program["draw"](tmp_path, pictures=[program["lowering"]])
    assert drawn[-1].read_bytes() == first


@pytest.mark.parametrize("name", ["hinge", "nearest", "checksum", "outer", "polar"])
def test_rules_of_families_agree_with_each_other(name: str) -> None:
    blocks = re.findall(
        r"^```python\n(?!>>>)(.*?)^```$",
        (ROOT / "docs/guides/families.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    made = getattr(ran("\n".join(blocks)), f"{name}_p")
    samples = {
        "hinge": [sample(made, array((3,)), array((3,))), sample(made, array((3,)), array(()))],
        "nearest": [sample(made, array((3,))), sample(made, array((3,), "float8_e4m3fn"))],
        "checksum": [sample(made, array((3, 2), "uint8"), axes=axes) for axes in ((0,), (0, 1))],
        "outer": [sample(made, array((4, 3)), array((4, 2)))],
        "polar": [sample(made, array((3,)), array((3,)))],
    }[name]
    report = check_rules(made, samples, budget=30.0)
    assert report.ok, report
