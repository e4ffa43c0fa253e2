"""Backends with one mistake each, and what ``check_backend`` has to blame.

All of them are the same small interpreter, ``Plain``, which applies primitives one by one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import bindax
from bindax.extend import Array, Literal, Primitive, as_array
from bindax_core.errors import BackendError, BindaxError, MissingRuleError
from bindax_core.extend import find_backend, impl, typeof
from bindax_transforms import jit_p


class Plain:
    """A right backend: each primitive is evaluated by its ``impl`` rule."""

    name = "plain"
    priority = -1
    platform = "host"
    host_accessible = True
    units: Mapping[str, float] = {}

    def compile(
        self, jaxpr: Any, *, name: str, donated: Sequence[bool], keep_unused: bool
    ) -> Callable[..., list[Any]]:
        def run(*operands: Any) -> list[Any]:
            arrays = [as_array(x) for x in operands]
            for x in arrays:
                x.numpy()  # raises where an operand was deleted
            return self.run(jaxpr, arrays, donated)

        return run

    def run(self, closed: Any, operands: Sequence[Any], donated: Sequence[bool]) -> list[Any]:
        with bindax.config.override(backend="numpy"):
            outs = self.evaluate(closed, operands)
        return [self.result(x, aval) for x, aval in zip(outs, closed.out_avals, strict=True)]

    def result(self, x: Any, aval: Any) -> Any:
        return Array.from_numpy(np.array(as_array(x).numpy()), aval)

    def evaluate(self, closed: Any, operands: Sequence[Any]) -> list[Any]:
        jaxpr = closed.jaxpr
        known = dict(zip(jaxpr.constvars, closed.consts, strict=True))
        known |= dict(zip(jaxpr.invars, operands, strict=True))

        def read(atom: Any) -> Any:
            return atom.val if isinstance(atom, Literal) else known[atom]

        for eqn in jaxpr.eqns:
            given = [read(x) for x in eqn.invars]
            outs = self.apply(eqn.primitive, given, eqn.params)
            known.update(zip(eqn.outvars, outs, strict=True))
        return [read(x) for x in jaxpr.outvars]

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        if primitive is jit_p:
            return self.evaluate(params["jaxpr"], operands)
        if impl.find(primitive) is None:
            raise MissingRuleError(f"the backend 'plain' has no rule for {primitive.name}.")
        outs = primitive.bind(*operands, **params)
        return list(outs) if primitive.multiple_results else [outs]

    def lower(self, jaxpr: Any, **options: Any) -> Any:
        return Lowered(jaxpr, self.compile(jaxpr, **options))

    def to_host(self, buffer: Any, aval: Any) -> Any:
        return buffer

    def put(self, array: Any, aval: Any, device: Any = None) -> Any:
        return np.array(array)

    def block_until_ready(self, buffer: Any) -> None:
        return

    def delete(self, buffer: Any) -> None:
        return

    def is_deleted(self, buffer: Any) -> bool:
        return False

    def devices(self) -> list[str]:
        return ["host"]


def applies(closed: Any, name: str) -> bool:
    """Tell whether a program applies a primitive."""
    return any(eqn.primitive.name == name for eqn in closed.jaxpr.eqns)


class Lowered(NamedTuple):
    jaxpr: Any
    executable: Callable[..., list[Any]]

    def as_text(self) -> str:
        return str(self.jaxpr)

    def compile(self) -> Any:
        return self.executable


SOME = ["add", "cos", "exp", "max", "mul", "neg", "sin", "tan", "tanh", "transpose"]
"""The primitives that are checked; all are the same, so that their samples are traced once."""


class Fault(NamedTuple):
    """A backend, the checks and primitives to run, and what the report has to say."""

    backend: type[Plain]
    primitives: list[str] | None
    checks: list[str]
    blamed: str  # the primitive, or empty where it is the backend itself
    text: str


FAULTS: list[Fault] = []


def fault(
    text: str, *checks: str, primitives: list[str] | None = None, blamed: str = ""
) -> Callable[[type[Plain]], type[Plain]]:
    def register(kind: type[Plain]) -> type[Plain]:
        FAULTS.append(Fault(kind, primitives, list(checks), blamed, text))
        return kind

    return register


def changed(x: Any, function: Callable[[Any], Any]) -> Any:
    """A value with other elements, of the same type."""
    array = np.asarray(as_array(x).numpy())
    return Array.from_numpy(np.asarray(function(array)).astype(array.dtype), typeof(x))


# ------------------------------------------------------------------------------------- values


@fault("units in the last place away", "float32", primitives=SOME, blamed="sin")
class WrongValue(Plain):
    """The sine of single precision has three right digits."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        outs = super().apply(primitive, operands, params)
        return [changed(x, lambda a: a * 1.0001) for x in outs] if primitive.name == "sin" else outs


@fault("units in the last place away", "float64", primitives=SOME, blamed="exp")
class WrongPrecision(Plain):
    """Doubles are computed in single precision."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        outs = super().apply(primitive, operands, params)
        if primitive.name != "exp":
            return outs
        return [changed(x, lambda a: np.exp(np.log(a).astype(np.float32))) for x in outs]


@fault("is said to be float32", "float32", primitives=SOME, blamed="add")
class WrongDtype(Plain):
    """Sums of singles are doubles in memory."""

    def run(self, closed: Any, operands: Sequence[Any], donated: Sequence[bool]) -> list[Any]:
        outs = super().run(closed, operands, donated)
        if not applies(closed, "add"):
            return outs
        return [Array.from_buffer(typeof(x), np.asarray(x, np.float64), self) for x in outs]


@fault("should be", "float32", primitives=SOME, blamed="transpose")
class WrongShape(Plain):
    """Transposing leaves the shape as it is."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        return (
            list(operands)
            if primitive.name == "transpose"
            else super().apply(primitive, operands, params)
        )

    def result(self, x: Any, aval: Any) -> Any:
        array = as_array(x)
        return Array.from_numpy(array.numpy().copy(), typeof(array))


@fault("for special values", "special values", primitives=SOME, blamed="max")
class LosesNaN(Plain):
    """The maximum of a number and NaN is the number."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        if primitive.name == "max" and typeof(operands[0]).dtype.kind == "f":
            with np.errstate(all="ignore"):
                return [np.fmax(*(np.asarray(x) for x in operands))]
        return super().apply(primitive, operands, params)


@fault("not evaluated by the backend", "no fallback", primitives=SOME, blamed="cos")
class FallsBack(Plain):
    """Programs with a cosine are given to the interpreter, and nobody is told."""

    def compile(self, jaxpr: Any, **options: Any) -> Any:
        if applies(jaxpr, "cos"):
            return find_backend("numpy").compile(jaxpr, **options)
        return super().compile(jaxpr, **options)


@fault("must name the primitive and the backend", "float32", primitives=SOME, blamed="tan")
class SaysNothing(Plain):
    """Raise an error without a name where a primitive is not supported."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        if primitive.name == "tan":
            raise BackendError("cannot translate this operation.")
        return super().apply(primitive, operands, params)


@fault("raised KeyError", "float32", primitives=SOME, blamed="tan")
class Crashes(Plain):
    """Raise a KeyError where a primitive is not supported."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        if primitive.name == "tan":
            return list({}["tan"])
        return super().apply(primitive, operands, params)


@fault("changes its operand 0 in place", "float32", primitives=SOME, blamed="neg")
class InPlace(Plain):
    """Negation writes to its operand."""

    def compile(self, jaxpr: Any, **options: Any) -> Any:
        run = super().compile(jaxpr, **options)
        if not applies(jaxpr, "neg"):
            return run

        def writing(*operands: Any) -> Any:
            outs = run(*operands)
            for x in operands:
                array = np.asarray(x)
                memory = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
                np.frombuffer(memory, array.dtype)[...] *= -1
            return outs

        return writing


@fault("result 0 should be", "float32", primitives=SOME, blamed="mul")
class Remembers(Plain):
    """Give the first results again for operands of the same types."""

    def compile(self, jaxpr: Any, **options: Any) -> Any:
        run, known = super().compile(jaxpr, **options), {}
        if not applies(jaxpr, "mul"):
            return run
        return lambda *operands: known.setdefault("first", run(*operands))


# ----------------------------------------------------------------------------------- interface


@fault("random numbers have to be the same", "random bits")
class WrongBits(Plain):
    """The last bit of random words is lost."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        outs = super().apply(primitive, operands, params)
        if not primitive.name.startswith("threefry"):
            return outs
        return [changed(x, lambda a: a & ~np.ones((), a.dtype)) for x in outs]


@fault("was not donated, but has other values", "donation")
class CorruptsDonated(Plain):
    """Where one operand is donated, results are written over another one."""

    def run(self, closed: Any, operands: Sequence[Any], donated: Sequence[bool]) -> list[Any]:
        outs = super().run(closed, operands, donated)
        if any(donated):
            for x, flag in zip(operands, donated, strict=True):
                array = x.numpy()
                if not flag and array.size:
                    array.flags.writeable = True
                    array[...] = 0
        return outs


@fault("can still be used, but has other values", "donation")
class KeepsDonated(Plain):
    """A donated operand holds a result afterwards, and can be read."""

    def run(self, closed: Any, operands: Sequence[Any], donated: Sequence[bool]) -> list[Any]:
        outs = super().run(closed, operands, donated)
        for x, flag in zip(operands, donated, strict=True):
            if flag and x.numpy().size:
                array = x.numpy()
                array.flags.writeable = True
                array[...] = 7
        return outs


@fault("of an operand by columns", "layouts")
class ReadsMemory(Plain):
    """Elements are read as they lie in memory."""

    def run(self, closed: Any, operands: Sequence[Any], donated: Sequence[bool]) -> list[Any]:
        read = [np.ravel(x.numpy(), order="K").reshape(x.shape) for x in operands]
        return super().run(closed, [as_array(x) for x in read], donated)


@fault("the calls of host functions are", "callbacks")
class CallsTwice(Plain):
    """Host functions are called once more."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        if primitive.name.endswith("_callback"):
            super().apply(primitive, operands, params)
        return super().apply(primitive, operands, params)


@fault("is lost, and results are returned", "errors of callbacks")
class SwallowsErrors(Plain):
    """Give zeros in place of errors."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        try:
            return super().apply(primitive, operands, params)
        except BindaxError:
            raise
        except Exception:
            avals = primitive.out_avals(tuple(map(typeof, operands)), params)
            return [np.zeros(aval.shape, aval.dtype) for aval in avals]


@fault("raises no error", "errors")
class AcceptsAll(Plain):
    """A primitive without a rule gives its operand."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        try:
            return super().apply(primitive, operands, params)
        except MissingRuleError:
            return list(operands)


@fault("the effects happen in the order", "effects")
class AnyOrder(Plain):
    """Host functions that give nothing are called in the end, the last one first."""

    def evaluate(self, closed: Any, operands: Sequence[Any]) -> list[Any]:
        self.later: list[Callable[[], Any]] = []
        outs = super().evaluate(closed, operands)
        for call in reversed(self.later):
            call()
        return outs

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        if primitive.name != "debug_callback":
            return super().apply(primitive, operands, params)
        self.later.append(lambda: Plain.apply(self, primitive, operands, params))
        return []


@fault("(weak types)", "results")
class ForgetsWeakTypes(Plain):
    """Results of Python numbers have the types of arrays."""

    def result(self, x: Any, aval: Any) -> Any:
        return super().result(x, aval.strip_weak_type())


@fault("to_host gives", "buffers")
class TransposesBuffers(Plain):
    """Buffers hold elements by columns, and are read by rows."""

    def put(self, array: Any, aval: Any, device: Any = None) -> Any:
        return np.array(array).ravel(order="F").reshape(array.shape)


@fault("No step alone is wrong", "generated programs", primitives=SOME)
class FusesWrongly(Plain):
    """A hyperbolic tangent beside an exponential is wrong; each of them alone is right."""

    def evaluate(self, closed: Any, operands: Sequence[Any]) -> list[Any]:
        names = [eqn.primitive.name for eqn in closed.jaxpr.eqns]
        self.fuses = "exp" in names and "tanh" in names
        return super().evaluate(closed, operands)

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Any) -> list[Any]:
        outs = super().apply(primitive, operands, params)
        fused = self.fuses and primitive.name == "tanh" and typeof(outs[0]).dtype.kind == "f"
        return [changed(x, lambda a: a * 1.5) for x in outs] if fused else outs


@fault("alone is wrong", "generated programs", primitives=SOME, blamed="sin")
class WrongInPrograms(WrongValue):
    """The wrong sine is found in programs, too."""
