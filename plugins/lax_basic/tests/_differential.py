"""What a sample gives: by bindax, and by JAX, in the same words, and how the two are compared."""

import contextlib
import functools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from _dtype_cases import UNSIGNED_FLOATS
from jax_calls import FAST_COMPILER

import bindax_core as bx
import bindax_transforms as bt
from bindax import lax
from bindax_core.extend import is_differentiable, tree_leaves, tree_structure, typeof
from bindax_lax_basic.samples.calls import SAMPLES
from bindax_lax_basic.samples.contractions import CONTRACTIONS
from bindax_lax_basic.samples.reductions import REDUCTION_SAMPLES
from bindax_linalg.samples import linalg_samples
from bindax_special.samples import conformance_samples as all_special_samples

# Otherwise the compiler keeps float32 where a program says bfloat16, and results are not those of
# the operations.
COMPILER_OPTIONS = {**FAST_COMPILER, "xla_allow_excess_precision": False}


class Subject(NamedTuple):
    """A sample of any module: its operands, and the function that is called on them."""

    label: str
    name: str
    operands: list[np.ndarray]
    others: list[np.ndarray]
    call: Any

    @property
    def inexact(self) -> list[int]:
        return [i for i, x in enumerate(self.operands) if is_differentiable(x.dtype)]


@functools.cache
def subjects() -> list[Subject]:
    """Every sample of the package."""
    found = [
        Subject(s.label, s.name, s.make(), s.make(1), s.call)
        for s in (*SAMPLES, *REDUCTION_SAMPLES, *CONTRACTIONS)
    ]
    # Zeros below the diagonal are for the signs that LAPACK chooses, which the suite compares.
    of_linalg = [s for s in linalg_samples() if not s.label.endswith("-of-with_zeros")]
    found += [linalg_subject(s) for s in of_linalg]
    # Of operands without a derivative, JAX may have one.
    smooth = [s for s in special_samples() if s.label.count("-") > 1 or not s.no_derivative]
    return found + [special_subject(s) for s in smooth]


def special_samples() -> list[Any]:
    """The samples of special functions but those whose results are known."""
    return [s for s in all_special_samples() if s.reference is None]


def special_subject(sample: Any) -> Subject:
    """A sample of special functions."""
    function = getattr(sample.function, "function", sample.function)
    leading, name = getattr(sample.function, "leading", ()), function.__name__

    def call(module: Any, *operands: Any) -> Any:
        scalars = [np.asarray(value).astype(operands[0].dtype) for value in leading]
        return getattr(module, name)(*scalars, *operands)

    return Subject(sample.label, name, *[sample.draw(0, number) for number in range(2)], call)


def linalg_subject(sample: Any) -> Subject:
    """A sample of linear algebra, with matrices that were prepared for both libraries."""
    draws = [sample.draw(0, number) for number in range(2)]
    prepare = getattr(sample.function, "prepare", None)
    if prepare is not None:
        draws = [[np.asarray(prepare(xs[0])), *xs[1:]] for xs in draws]
    function = getattr(sample.function, "function", sample.function)
    arguments = {**getattr(sample.function, "arguments", {}), **sample.params}
    name = function.__name__

    def call(module: Any, *operands: Any) -> Any:
        return getattr(module.linalg, name)(*operands, **arguments)

    return Subject(sample.label, name, *draws, call)


class Parts(NamedTuple):
    """What a library computes of a subject; None where it refuses."""

    value: Any
    tangent: Any
    gradients: Any
    batched: dict[int, Any]


@contextlib.contextmanager
def wide_types(on: bool = True) -> Iterator[None]:
    """JAX with 64-bit dtypes."""
    import jax

    with jax.enable_x64(on), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Inputs(NamedTuple):
    """Arrays that go into the parts, the same for both libraries."""

    operands: list[np.ndarray]
    directions: list[np.ndarray]
    cotangents: list[np.ndarray]
    stacks: list[np.ndarray]


def inputs_of(subject: Subject, value: Any) -> Inputs:
    """The inputs; ``value`` tells the types of cotangents."""
    rng = np.random.default_rng(0)
    cotangents = []
    for leaf in tree_leaves(value):
        aval = typeof(leaf)
        if is_differentiable(aval.dtype):
            drawn = rng.standard_normal(aval.shape)
            if aval.dtype.name in UNSIGNED_FLOATS:
                drawn = np.abs(drawn)
            if aval.dtype.kind == "c":
                drawn = drawn + 1j * rng.standard_normal(aval.shape)
            cotangents.append(np.asarray(drawn).astype(aval.dtype))
        else:
            cotangents.append(np.zeros(aval.shape, bx.float0))
    stacks = [np.stack(pair) for pair in zip(subject.operands, subject.others, strict=True)]
    directions = [subject.others[i] for i in subject.inexact]
    return Inputs(subject.operands, directions, cotangents, stacks)


def parts_of(
    api: Any, module: Any, subject: Subject, inputs: Inputs, refused: dict[str, str]
) -> Parts:
    """Value, derivatives and batches of a subject by bindax or by JAX.

    Args:
        api: the transformations.
        module: the functions.
        subject: the sample.
        inputs: what goes in.
        refused: parts that are not asked for; receives which parts raise an error, and which one.
    """
    operands, inexact = list(inputs.operands), subject.inexact

    def differentiable(*xs: Any) -> Any:
        full = list(operands)
        for i, x in zip(inexact, xs, strict=True):
            full[i] = x
        return subject.call(module, *full)

    def attempt(part: str, function: Any) -> Any:
        if part in refused:
            return None
        try:
            return function()
        except Exception as error:
            refused[part] = f"{type(error).__name__}: {error}".partition("\n")[0]
            return None

    primals = [operands[i] for i in inexact]
    value = attempt("value", lambda: subject.call(module, *operands))
    tangent = gradients = None
    if inexact and value is not None:
        tangent = attempt("jvp", lambda: api.jvp(differentiable, primals, inputs.directions)[1])
        if any(x.dtype != bx.float0 for x in inputs.cotangents):
            gradients = attempt(
                "vjp", lambda: pull_back(api, differentiable, primals, inputs.cotangents)
            )
    batched = {
        i: attempt(f"vmap {i}", lambda i=i: batched_on(api, module, subject, inputs, i))
        for i in range(len(operands))
        if value is not None
    }
    return Parts(value, tangent, gradients, batched)


def pull_back(api: Any, function: Any, primals: Any, cotangents: Sequence[Any]) -> Any:
    if api is bt:
        out, back = bt.vjp(function, *primals)
        return back(tree_structure(out).unflatten(cotangents))
    out, back = api.vjp(function, *primals)
    return back(api.tree.structure(out).unflatten(cotangents))


def batched_on(api: Any, module: Any, subject: Subject, inputs: Inputs, i: int) -> Any:
    axes = tuple(0 if k == i else None for k in range(len(inputs.operands)))
    xs = [inputs.stacks[k] if k == i else x for k, x in enumerate(inputs.operands)]
    return api.vmap(lambda *ys: subject.call(module, *ys), in_axes=axes)(*xs)


def by_jax(group: Sequence[Subject], inputs: Sequence[Inputs]) -> tuple[list[Parts], list[dict]]:
    """What JAX gives for some subjects, compiled as one program; and what it refuses."""
    refused: list[dict[str, str]] = [{} for _ in group]
    moving = [moving_arrays(given) for given in inputs]
    try:
        return program_of_jax(group, inputs, refused)(moving), refused
    except TypeError:
        for subject, given, errors in zip(group, inputs, refused, strict=True):
            errors |= refused_when_lowered(subject, given)
    return program_of_jax(group, inputs, refused)(moving), refused


def refused_when_lowered(subject: Subject, inputs: Inputs) -> dict[str, str]:
    """The parts that JAX traces, and refuses when it lowers the program."""
    parts = ["jvp", "vjp", *(f"vmap {i}" for i in range(len(inputs.operands)))]
    found: dict[str, str] = {}
    for part in ("value", *parts):  # all of them need the value
        if "value" in found:
            break
        others = dict.fromkeys([name for name in parts if name != part], "not asked for")
        try:
            program_of_jax([subject], [inputs], [others]).lower([moving_arrays(inputs)])
        except TypeError as error:
            found[part] = f"TypeError: {error}".partition("\n")[0]
    return found


def moving_arrays(inputs: Inputs) -> tuple[list[np.ndarray], ...]:
    """What a program takes as operands: constants of float0 are no arrays, so they stay out."""
    cotangents = [c for c in inputs.cotangents if c.dtype != bx.float0]
    return inputs.operands, inputs.directions, cotangents, inputs.stacks


def program_of_jax(
    group: Sequence[Subject], inputs: Sequence[Inputs], refused: Sequence[dict[str, str]]
) -> Any:
    """The parts of some subjects as one program of JAX; it takes their moving arrays.

    Args:
        group: the subjects.
        inputs: what goes into each.
        refused: for each the parts to leave out; receives those that raise an error, too.
    """

    import _jax_reference
    import jax

    def everything(moving: Any) -> Any:
        found = []
        for subject, given, xs, errors in zip(group, inputs, moving, refused, strict=True):
            mixed = iter(xs[2])
            cotangents = [c if c.dtype == bx.float0 else next(mixed) for c in given.cotangents]
            full = Inputs(xs[0], xs[1], cotangents, xs[3])
            found.append(parts_of(jax, _jax_reference.reference, subject, full, errors))
        return found

    return jax.jit(everything, compiler_options=COMPILER_OPTIONS)


def by_bindax(
    subject: Subject, *, values_only: bool = False
) -> tuple[Parts, Inputs, dict[str, str]]:
    """The results of bindax for a subject, operation by operation; or the value alone."""
    refused: dict[str, str] = {}
    with bx.config.override(backend="numpy"):
        value = subject.call(lax, *subject.operands)
        inputs = inputs_of(subject, value)
        if values_only:
            return Parts(value, None, None, {}), inputs, refused
        return parts_of(bt, lax, subject, inputs, refused), inputs, refused


def compiled_by_bindax(
    group: Sequence[Subject], inputs: Sequence[Inputs], *, values_only: bool
) -> list[Parts]:
    """The same, compiled by XLA as one program; or the values alone."""

    def parts(subject: Subject, given: Inputs) -> Parts:
        if values_only:
            return Parts(subject.call(lax, *given.operands), None, None, {})
        return parts_of(bt, lax, subject, given, {})

    def everything(*moving: Any) -> Any:
        return [parts(s, Inputs(*xs)) for s, xs in zip(group, moving, strict=True)]

    with bx.config.override(backend="xla"):
        return bt.jit(everything)(*[tuple(x) for x in inputs])


def ulps(got: Any, wanted: Any, scale: float = 0.0) -> float:
    """How far apart two arrays are, in units in the last place of the largest element.

    Args:
        got: one of them.
        wanted: the other one.
        scale: the size of a number that the unit is at least that of.
    """
    a, b = np.asarray(got), np.asarray(wanted)
    if not is_differentiable(a.dtype):
        return 0.0 if np.array_equal(a, b) else np.inf
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.all(same | finite):
        return np.inf
    different = finite & ~same
    away = np.abs(a[different] - b[different]).max(initial=0.0)
    unit = float(ml_dtypes.finfo(np.asarray(wanted).dtype).eps)
    size = max(np.abs(b[finite]).max(initial=0.0), scale)
    return float(away / (unit * size)) if away else 0.0


def sizes_of(arrays: Sequence[Any]) -> list[np.ndarray]:
    """The sizes of the numbers of the arrays that can be differentiated."""
    inexact = [np.asarray(x) for x in arrays if is_differentiable(np.asarray(x).dtype)]
    return [np.abs(x.astype(complex if x.dtype.kind == "c" else float)) for x in inexact]


def size_of_terms(arrays: Sequence[Any]) -> float:
    """The sum of the sizes of what goes in, by which the rounding of sums is bounded."""
    return float(max((size.sum() for size in sizes_of(arrays)), default=0.0))


def largest(arrays: Sequence[Any]) -> float:
    """The size of the largest number, by which rounding is bounded that unitary matrices do."""
    return float(max((size.max(initial=0.0) for size in sizes_of(arrays)), default=0.0))


def type_of(x: Any) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    """Shape, dtype and weak type of an array, or of an answer of JAX."""
    aval = x if hasattr(x, "weak_type") else typeof(x)
    return aval.shape, aval.dtype, aval.weak_type and aval.dtype != bx.float0


def type_difference(got: Any, wanted: Any) -> str:
    """What differs in shape, dtype or weak type."""
    ours, theirs = type_of(got), type_of(wanted)
    return "" if ours == theirs else f"type {ours} for {theirs}"


def differences(
    part: str, got: Any, wanted: Any, allowed: float, scale: float
) -> Iterator[tuple[str, str]]:
    """What differs in one part: the part, and a sentence."""
    if got is None or wanted is None:
        if got is not wanted:
            yield part, "only JAX has it" if got is None else "only bindax has it"
        return
    ours, theirs = tree_leaves(got), tree_leaves(wanted)
    if len(ours) != len(theirs):
        yield part, f"{len(ours)} results for {len(theirs)}"
        return
    for a, b in zip(ours, theirs, strict=True):
        text = type_difference(a, b)
        if text:
            yield part, text
        elif typeof(a).dtype != bx.float0 and not (away := ulps(a, b, scale)) <= allowed:
            yield part, f"{away:.3g} units in the last place"


def by_name(parts: Parts) -> dict[str, Any]:
    """The leaves of each part; None where a library refuses."""
    batched = {f"vmap {i}": batch for i, batch in parts.batched.items()}
    named = {"value": parts.value, "jvp": parts.tangent, "vjp": parts.gradients, **batched}
    return {name: None if one is None else tree_leaves(one) for name, one in named.items()}


def answers_of_jax(group: Sequence[Subject], inputs: Sequence[Inputs]) -> list[dict[str, Any]]:
    """The parts of some subjects by JAX, by their names."""
    return [by_name(parts) for parts in by_jax(group, inputs)[0]]


def all_differences(
    got: Parts, wanted: dict[str, Any], allowed: float, scale: float, turned: float
) -> list[tuple[str, str]]:
    """Differences in all parts; ``turned`` is the scale of derivatives alone."""
    pairs = [(name, ours, wanted.get(name)) for name, ours in by_name(got).items()]
    scales = {"jvp": turned, "vjp": turned}
    return [
        one
        for name, *pair in pairs
        for one in differences(name, *pair, allowed, max(scale, scales.get(name, 0.0)))
    ]
