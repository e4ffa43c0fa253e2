"""References under transformations: what NumPy computes in place, and what messages say."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax import lax, new_ref
from bindax_core import load_plugins
from bindax_core.errors import PluginError

X = np.array([0.5, -1.25, 2.0])


class Box:
    """An array of NumPy that is changed in place, with the operations of a reference."""

    def __init__(self, value: Any) -> None:
        self.value = np.array(value)

    def __getitem__(self, index: Any) -> Any:
        return np.copy(self.value[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.value[index] = value

    @property
    def at(self) -> Any:
        return self

    def part(self, index: Any) -> Box:
        box = Box(0.0)
        box.value = self.value[index : index + 1].reshape(self.value.shape[1:])
        return box


def scan_in_python(f: Any, c: Any, xs: Any, length: int | None = None) -> Any:
    ys = []
    for i in range(len(X) if length is None else length):
        x = xs.part(i) if isinstance(xs, Box) else None if xs is None else xs[i]
        c, y = f(c, x)
        ys.append(y)
    return c, None if ys[0] is None else np.stack(ys)


def while_in_python(cond: Any, body: Any, c: Any) -> Any:
    while cond(c):
        c = body(c)
    return c


def fori_in_python(start: int, stop: int, body: Any, c: Any) -> Any:
    for i in range(start, stop):
        c = body(i, c)
    return c


BINDAX = SimpleNamespace(
    **{n: getattr(bindax, n) for n in ("jit", "checkpoint", "new_ref", "freeze")},
    **{n: getattr(lax, n) for n in ("scan", "while_loop", "fori_loop", "cond", "switch")},
    np=bnp,
)
NUMPY = SimpleNamespace(
    jit=lambda f: f,
    checkpoint=lambda f: f,
    new_ref=Box,
    freeze=lambda box: box.value,
    scan=scan_in_python,
    while_loop=while_in_python,
    fori_loop=fori_in_python,
    cond=lambda p, f, g: f() if p else g(),
    switch=lambda i, branches: branches[i](),
    np=np,
)


def by_index(m: Any, x: Any) -> Any:
    ref = m.new_ref(x)
    ref[0] = ref[1] * ref[2]
    ref[1:] += 1.0
    ref[np.array([0, 2])] = ref[...][:2]
    before = ref[1]
    ref[1] = 3.0 * before
    return m.np.sin(ref[...]).sum() + before


def in_jit(m: Any, x: Any) -> Any:
    ref = m.new_ref(x)

    @m.jit
    def step(y: Any) -> Any:
        ref[...] = m.np.sin(ref[...]) * y
        return ref[0] + y

    return step(2.0) + step(ref[1]) + ref[...].sum()


def in_scan(m: Any, x: Any) -> Any:
    total, factor = m.new_ref(0.0 * x[0]), m.new_ref(x[1])

    def step(c: Any, y: Any) -> Any:
        total[...] += c * y * factor[...]
        return m.np.cos(c) + total[...], total[...]

    c, ys = m.scan(step, x[0], x)
    return c * ys.sum() + total[...]


def over_elements(m: Any, x: Any) -> Any:
    ref = m.new_ref(x)

    def step(c: Any, element: Any) -> Any:
        element[...] = m.np.sin(element[...]) + c
        return element[...] * c, None

    c, _ = m.scan(step, x[0], ref)
    return (ref[...] * x).sum() + c


def in_while(m: Any, x: Any) -> Any:
    ref = m.new_ref(x)
    count = m.new_ref(0.0 * x[0])

    def body(i: Any) -> Any:
        ref[...] = ref[...] * 2.0
        count[...] += 1.0
        return i + 1

    m.while_loop(lambda i: (ref[0] < 10.0) & (i < 7), body, 0)
    return (ref[...] * count[...]).sum()


def in_fori(m: Any, x: Any) -> Any:
    ref = m.new_ref(x)

    def body(i: Any, c: Any) -> Any:
        ref[i] = ref[i] * c
        return c + ref[i]

    return m.fori_loop(0, 3, body, x[0]) + ref[...].sum()


def in_branches(m: Any, x: Any) -> Any:
    one, two = m.new_ref(x), m.new_ref(2.0 * x)

    def first() -> Any:
        one[...] = one[...] * two[...]
        return one[0]

    def second() -> Any:
        two[0] = one[1]
        return m.np.sin(two[0])

    a = m.cond(x[0] > 0, first, second)
    b = m.switch(2, [first, first, second])
    return a * b + (one[...] * two[...]).sum()


def in_checkpoint(m: Any, x: Any) -> Any:
    @m.checkpoint
    def f(y: Any) -> Any:
        ref = m.new_ref(y)
        ref[...] = m.np.sin(ref[...]) * ref[...]
        return m.freeze(ref)

    return f(x).sum()


def nested(m: Any, x: Any) -> Any:
    ref = m.new_ref(x)

    @m.jit
    def outer(c: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            @m.jit
            def change() -> Any:
                ref[...] = m.np.sin(ref[...]) + c

            m.cond(c > 0, change, lambda: None)
            return c * ref[0], None

        return m.scan(step, c, None, length=2)[0]

    return outer(x[0]) + ref[...].sum()


PROGRAMS = [
    *(by_index, in_jit, in_scan, over_elements, in_while, in_fori, in_branches, in_checkpoint),
    nested,
]


def gradient(program: Any, x: Any) -> Any:
    """Differences of the program on NumPy."""
    steps = 1e-6 * np.eye(len(x))
    return np.array([(program(NUMPY, x + d) - program(NUMPY, x - d)) / 2e-6 for d in steps])


def each(f: Any) -> Callable[[Any], Any]:
    return bindax.jit(bindax.vmap(f))


FORMS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "itself": (lambda f: f, False),
    "jit": (bindax.jit, False),
    "vmap": (each, False),
    "jvp": (bindax.jacfwd, True),
    "grad": (bindax.grad, True),
    "grad of jit": (lambda f: bindax.grad(bindax.jit(f)), True),
    "grad of checkpoint": (lambda f: bindax.grad(bindax.checkpoint(f)), True),
    "vmap of grad": (lambda f: each(bindax.grad(f)), True),
    "grad in a loop": (lambda f: lambda x: lax.map(bindax.grad(f), x[None])[0], True),
}


@pytest.mark.every(16)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_compute_what_numpy_computes_in_place(program: Any, form: str) -> None:
    transformation, differentiates = FORMS[form]
    if program is in_while and differentiates:  # which has no reverse mode
        transformation = bindax.jacfwd
        form = "jvp"
    xs = np.stack([X, X + 0.25]) if form.startswith("vmap") else X
    found = transformation(lambda x: program(BINDAX, x))(xs)
    reference = gradient if differentiates else lambda f, x: f(NUMPY, x)
    rows = [reference(program, x) for x in (xs if xs.ndim == 2 else [xs])]
    expected = np.stack(rows) if xs.ndim == 2 else rows[0]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_calls_change_what_they_are_given_and_close_over() -> None:
    total, ref = new_ref(0.0), new_ref(np.zeros(3))

    @bindax.jit
    def f(a: Any, x: Any) -> Any:
        assert isinstance(a, bindax.Ref)
        a[0] += x
        total[...] += a[...].sum()
        return a[0]

    assert [float(f(ref, x)) for x in (1.0, 2.0)] == [1.0, 3.0]
    assert float(total[...]) == 4.0
    assert f.cache_info().misses == 1
    assert float(f.lower(ref, 2.0).compile()(ref, 2.0)) == 5.0
    assert f.eval_shape(ref, 1.0).shape == ()
    program = bindax.make_jaxpr(f)(ref, 1.0)
    assert [len(program.in_avals), len(program.out_avals)] == [2, 3]
    bindax.vmap(lambda a, x: a.addupdate(x), in_axes=(0, 0))(ref, np.arange(3.0))
    assert ref[...].tolist() == [5.0, 1.0, 2.0]
    bindax.vmap(lambda a: a.set(total[...]))(ref)
    assert ref[...].tolist() == [9.0] * 3


def test_backward_rules_write_statistics() -> None:
    @bindax.custom_vjp
    def stash(ref: Any, x: Any) -> Any:
        return x

    def backward(ref: Any, cotangent: Any) -> Any:
        ref[...] = cotangent
        return None, cotangent

    stash.defvjp(lambda ref, x: (x, ref), backward)

    def f(ref: Any, x: Any) -> Any:
        return bnp.sin(stash(ref, bnp.sin(x)))

    forms = (
        bindax.grad(f, 1),
        bindax.jit(bindax.grad(f, 1)),
        bindax.grad(bindax.jit(f), 1),
        bindax.jit(bindax.grad(bindax.jit(bindax.jit(f)), 1)),
    )
    for transformed in (*forms, forms[2]):  # another reference in the second call
        ref = new_ref(0.0)
        slope = transformed(ref, 1.0)
        np.testing.assert_allclose(ref[...], np.cos(np.sin(1.0)))
        np.testing.assert_allclose(slope, np.cos(np.sin(1.0)) * np.cos(1.0))


def test_backward_rules_write_from_programs() -> None:
    sums = new_ref(0.0)

    @bindax.custom_vjp
    def stash(ref: Any, x: Any) -> Any:
        return x

    def backward(ref: Any, cotangent: Any) -> Any:
        ref[...] += cotangent
        return None, cotangent

    stash.defvjp(lambda ref, x: (x, ref), backward)

    def once(x: Any) -> Any:
        return bnp.sin(stash(sums, bnp.sin(x)))

    def looped(x: Any) -> Any:
        return lax.scan(lambda c, _: (once(c), None), x, length=2)[0]

    x1, x2, x3 = np.sin(1.0), np.sin(np.sin(1.0)), np.sin(np.sin(np.sin(1.0)))
    inner = np.cos(x1) * np.cos(x2) * np.cos(x3)
    for f, total in ((once, np.cos(x1)), (looped, np.cos(x3) + inner)):
        for form in (bindax.jit, lambda f: bindax.checkpoint(bindax.jit(f))):
            sums[...] = 0.0
            bindax.grad(form(f))(1.0)
            np.testing.assert_allclose(sums[...], total)


def in_a_branch() -> Any:
    ref = new_ref(0.0)

    @bindax.custom_vjp
    def f(ref: Any, x: Any) -> Any:
        return x

    f.defvjp(lambda ref, x: (x, ref), lambda ref, ct: (ref.set(ct), ct))
    return bindax.grad(lambda x: lax.cond(x > 0, lambda: f(ref, x), lambda: x))(1.0)


def test_cotangents_are_added_to_references() -> None:
    def gradients(w: Any, xs: Any) -> Any:
        total = new_ref(0.0 * w)

        def one(_: Any, x: Any) -> Any:
            y, f_vjp = bindax.vjp(lambda w: (w * x).sum() ** 2, w)
            f_vjp.with_refs(total)(bnp.ones_like(y))
            return None, y

        lax.scan(one, None, xs)
        return bindax.freeze(total)

    xs = np.outer(np.arange(4.0), X)
    expected = (2.0 * xs * (xs @ X)[:, None]).sum(0)
    np.testing.assert_allclose(gradients(X, xs), expected)
    np.testing.assert_allclose(bindax.jit(gradients)(X, xs), expected)

    ref = new_ref(2.0)
    y, f_vjp = bindax.vjp(lambda x, r: x * r[...], 3.0, ref)
    assert (float(y), f_vjp(1.0)) == (6.0, (2.0, None))
    y, f_vjp = bindax.vjp(lambda x, w: (x * w).sum(), X, X + 1.0)
    assert [x is not None for x in f_vjp.args_res] == [True, True]
    assert f_vjp.opaque_residuals == []
    other = f_vjp.replace(args_res=[f_vjp.args_res[0], 5.0 * X])
    np.testing.assert_array_equal(other(1.0)[0], 5.0 * X)
    leaves, tree = bindax.tree.flatten(f_vjp)
    np.testing.assert_array_equal(bindax.tree.unflatten(tree, leaves)(1.0)[1], X)


def test_values_of_a_derivative_can_be_set_later() -> None:
    @bindax.jit
    def forward(x: Any) -> Any:
        out, pullback = bindax.vjp(lambda x: x["a"] * x["b"], x)
        pullback.args_res = [None]  # nothing of the arguments leaves the program
        return out, pullback

    @bindax.jit
    def backward(pullback: Any, x: Any) -> Any:
        pullback.args_res = [x]
        return pullback(1.0)

    x = {"a": 2.0, "b": 3.0}
    _, pullback = forward(x)
    assert bindax.tree.leaves(pullback) == []
    (slope,) = backward(pullback, x)
    assert {name: float(value) for name, value in slope.items()} == {"a": 3.0, "b": 2.0}
    with pytest.raises(bindax.errors.TreeError, match="args_res"):
        pullback.args_res = [{"a": 2.0}]


def wrong_structure_of_references() -> Any:
    return bindax.vjp(lambda x, w: x * w, 1.0, 2.0)[1].with_refs(new_ref(0.0))


def wrong_type_of_a_reference() -> Any:
    return bindax.vjp(lambda x: x, 1.0)[1].with_refs(new_ref(X))


def test_statistics_are_kept_without_derivatives() -> None:
    seen = new_ref(0.0, kind="no_grad_no_remat")

    @bindax.checkpoint
    def f(x: Any, ref: Any) -> Any:
        ref[...] += x * x
        return x * x

    assert float(bindax.grad(f)(2.0, seen)) == 4.0
    assert float(seen[...]) == 4.0


def aliased_argument() -> Any:
    ref = new_ref(0.0)
    return bindax.jit(lambda x, y: x[...] + y[...])(ref, ref)


def closed_over_and_passed() -> Any:
    ref = new_ref(0.0)
    return bindax.jit(lambda y: ref[...] + y[...])(ref)


def written_without_batch() -> Any:
    ref = new_ref(0.0)
    return bindax.vmap(lambda x: ref.set(x))(X)


def written_without_derivative() -> Any:
    ref = new_ref(0.0)
    return bindax.grad(lambda x: (ref.set(x), x)[1])(1.0)


def used_after_the_end() -> Any:
    kept: list[Any] = []
    bindax.jit(lambda: kept.append(new_ref(0.0)))()
    return kept[0][...]


def frozen_inside() -> Any:
    ref = new_ref(0.0)
    return bindax.jit(lambda: bindax.freeze(ref))()


def freed() -> Any:
    ref = new_ref(0.0)
    bindax.free_ref(ref)
    return ref[...]


def freed_twice() -> Any:
    ref = new_ref(0.0)
    bindax.free_ref(ref)
    bindax.free_ref(ref)


def written_by_a_condition() -> Any:
    ref = new_ref(0.0)
    return lax.while_loop(lambda i: ref.set(1.0) is None, lambda i: i, 0)


def written_in_a_custom_function() -> Any:
    ref = new_ref(0.0)

    @bindax.custom_jvp
    def f(x: Any) -> Any:
        ref[...] = x
        return x

    f.defjvp(lambda primals, tangents: (*primals, *tangents))
    return bindax.jit(f)(1.0)


def used_by_a_rule_that_is_traced_apart() -> Any:
    ref = new_ref(0.0)

    @bindax.custom_vjp
    def f(x: Any) -> Any:
        return x

    f.defvjp(lambda x: (x, ref[...]), lambda r, ct: (ct,))
    return bindax.grad(bindax.jit(f))(1.0)


def made_by_a_forward_rule() -> Any:
    @bindax.custom_vjp
    def f(x: Any) -> Any:
        return x

    f.defvjp(lambda x: (x, new_ref(x)), lambda r, ct: (ct,))
    return bindax.grad(f)(1.0)


def cotangent_of_a_reference() -> Any:
    @bindax.custom_vjp
    def f(ref: Any, x: Any) -> Any:
        return x

    f.defvjp(lambda ref, x: (x, None), lambda r, ct: (ct, ct))
    return bindax.grad(f, 1)(new_ref(0.0), 1.0)


def exported() -> Any:
    ref = new_ref(0.0)
    return bindax.export.export(bindax.jit(lambda x: x * ref[...]))(1.0)


def exported_with_an_argument() -> Any:
    return bindax.export.export(bindax.jit(lambda ref: ref[...]))(new_ref(1.0))


WRONG = {
    exported: r"export of <lambda>: the function uses a mutable array reference of type f",
    exported_with_an_argument: "which a file does not hold. Take its value as an argument, and",
    in_a_branch: r"in a backward rule of a custom function. .* jit\(grad\(f\)\) in place of",
    wrong_structure_of_references: r"one entry for each argument, in the structure .*\(\*, \*\)",
    wrong_type_of_a_reference: r"type float64\[3\] was given for an .* is float64\[\]. Make",
    aliased_argument: "appeared at both x and y: only one reference to a mutable array may be",
    closed_over_and_passed: "closed over and passed as the argument y: .* Remove one of the two",
    written_without_batch: r"a batch of vmap of .* was written to an unbatched array reference",
    written_without_derivative: "cannot hold its derivative. Move the array reference into the",
    used_after_the_end: r"used after the end of jit of .*Make it outside, or return its value",
    frozen_inside: "was frozen in jit of .*, which it was not made in. Do it in the function",
    freed: r"type float64\[\] was used after it was freed. Use it before, or make a new one",
    freed_twice: "was used after it was freed",
    written_by_a_condition: "cond_fun of while_loop, .*, writes to a mutable array reference of",
    written_in_a_custom_function: "traced for jit of .* has no effects but its results. Write to",
    used_by_a_rule_that_is_traced_apart: r"carries no references. .* jit\(grad\(f\)\) in place",
    made_by_a_forward_rule: "custom_vjp fwd function .* that is none of its arguments. Pass it",
    cotangent_of_a_reference: "a cotangent for ref, which is a mutable array reference. Return",
    lambda: bindax.jit(new_ref)(X): r"traced for jit returned a mutable .* of type float64\[3\] at",
    lambda: bindax.jit(lambda r: {"a": r})(new_ref(0.0)): r"at output\['a'\]. Return its value",
    lambda: bindax.vmap(new_ref)(X): "traced for vmap returned a mutable array reference",
    lambda: lax.scan(lambda c, x: (new_ref(c), x), 0, X): "traced for scan returned a mutable .* c",
    lambda: lax.cond(True, lambda: new_ref(1.0), lambda: new_ref(2.0)): "traced for cond returned",
    lambda: lax.scan(lambda c, x: (c, x), new_ref(0.0), X): "init of scan is a mutable array",
    lambda: lax.scan(lambda c, x: (c, x), 0.0, new_ref(0.0)): "xs, which is a scalar, is a mutable",
    lambda: bindax.grad(lambda r: r[...])(new_ref(1.0)): "grad with respect to r.* close over the",
    lambda: bindax.jvp(lambda r: r[...], (new_ref(1.0),), (1.0,)): "jvp with respect to r: it is a",
    lambda: new_ref(new_ref(0.0)): "does not hold another one",
    lambda: new_ref(0.0, kind="other"): "kind must be None or 'no_grad_no_remat', but it is",
    lambda: new_ref(0.0, memory_space="x"): "memory_space must be None, but it is 'x'",
    lambda: new_ref(np.zeros(3, np.int32)).set(1.5): r"of type int32\[3\]. Convert",
    lambda: new_ref(X).set(np.zeros(4)): r"\[4\] was written to ref\[...\] of a",
    lambda: bindax.freeze(new_ref(X).at[0]): "it belongs to the reference; free or freeze that",
}


@pytest.mark.parametrize("call", WRONG)
def test_misuse_says_what_to_do(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=WRONG[call]):
        call()


def test_references_are_no_arrays() -> None:
    ref = new_ref(X)
    for use in (bnp.sin, np.sin, bool, iter, pickle.dumps, lambda r: r + 1.0):
        with pytest.raises(TypeError):
            use(ref)
    with pytest.raises(TypeError, match="takes a mutable array reference, made by new_ref, but"):
        bindax.freeze(X)
    with pytest.raises(TypeError, match="empty_ref takes a type with a shape and a dtype"):
        bindax.empty_ref(3)
    assert (len(ref), ref.shape, ref.size, ref.ndim, ref.dtype) == (3, (3,), 3, 1, np.float64)
    other = copy.deepcopy(ref)
    other[0] = 7.0
    assert ref[0] == 0.5
    assert ref.swap(9.0, 0) == 0.5
    assert "Ref(float64[], a part of Ref([" in repr(ref.at[0])


def test_functions_of_arrays_say_to_read_the_value() -> None:
    with pytest.raises(TypeError, match=r"type Ref\. It is a mutable .* with ref\[\.\.\.\]\.$"):
        bnp.sin(new_ref(1.0))


def test_a_package_without_a_declaration_is_not_called_missing() -> None:
    with pytest.raises(PluginError, match=r"bindax-refs .* is installed, but it is no plugin"):
        load_plugins("refs")


def _while_once(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: lax.while_loop(lambda c: c < 9.0, f, x)


@pytest.mark.parametrize(
    "wrap",
    [
        bindax.jit,
        bindax.make_jaxpr,
        lambda f: bindax.jit(bindax.jit(f)),
        lambda f: bindax.jit(bindax.checkpoint(f)),
        lambda f: lambda x: lax.cond(True, f, f, x),
        lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2),
        lambda f: bindax.jit(_while_once(f)),
    ],
)
def test_a_trace_that_fails_leaves_references_as_they_were(wrap: Any) -> None:
    ref = new_ref(1.0)

    def fails(x: Any) -> Any:
        ref[...] += x
        raise KeyError("in the middle")

    def adds(x: Any) -> None:
        ref[...] += x

    with pytest.raises(KeyError, match="in the middle"):
        wrap(fails)(2.0)
    assert float(ref[...]) == 1.0
    bindax.jit(adds)(3.0)
    assert float(ref[...]) == 4.0


def test_one_program_serves_all_references_of_a_type() -> None:
    traces = []

    @bindax.jit
    def add(ref: Any, x: Any) -> Any:
        traces.append(ref.shape)
        ref[0] += x
        return ref[1]

    refs = [new_ref(X + k) for k in range(3)]
    results = [float(add(ref, 10.0 * k)) for k, ref in enumerate(refs)]
    assert results == [X[1] + k for k in range(3)]
    for k, ref in enumerate(refs):
        np.testing.assert_array_equal(ref[...], X + [11.0 * k, k, k])
    assert traces == [(3,)]


def test_threads_have_references_of_their_own() -> None:
    @bindax.jit
    def shared(ref: Any) -> None:
        ref[...] *= 2.0

    def work(k: int) -> float:
        ref = new_ref(float(k))

        @bindax.jit
        def add(x: Any) -> Any:
            ref[...] += x
            inner = new_ref(x)
            lax.fori_loop(0, 3, lambda i, _: inner.addupdate(1.0), None)
            return inner[...]

        for _ in range(3):
            assert float(add(float(k))) == k + 3.0
            shared(ref)
        return float(ref[...])

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, range(4))) == [22.0 * k for k in range(4)]
