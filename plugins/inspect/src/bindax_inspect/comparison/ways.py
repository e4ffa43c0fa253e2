"""Ways to run equations: on a backend, compiled together, in another float type, on a device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import attrs

from bindax_core import device_put, devices
from bindax_core.extend import (
    Array,
    BackendError,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    as_array,
    bind_flat,
    config,
    executable_of,
    find_backend,
    interpret_jaxpr,
)
from bindax_inspect.comparison.bodies import Single, has_bodies, run_bodies
from bindax_inspect.comparison.float_types import FLOAT_TYPES, converted, retyped_equation
from bindax_inspect.comparison.programs import called_program

_KNOWN = "'eager', 'compiled', the name of a backend, a float type, a device, or a tuple of these"


@attrs.frozen(eq=False)
class Way:
    """A way to run equations.

    Attributes:
        name: its name in messages.
        code: what makes it, as Python code.
        backend: the name of the backend that runs each equation; None for evaluation as outside of
            ``jit``.
        together: whether the equations of a program are compiled together.
        float_type: the type that floats of the program have instead of their own, or None.
        device: the device that the operands are moved to, or None.
    """

    name: str
    code: str
    backend: str | None = None
    together: bool = False
    float_type: str | None = None
    device: Any = None
    _programs: dict[Any, Any] = attrs.field(factory=dict, repr=False)

    def operands(self, values: Sequence[Any]) -> list[Any]:
        """Bring the arguments of a program to the type and device of this way."""
        return [self._operand(as_array(x)) for x in values]

    def _operand(self, x: Array) -> Array:
        if self.float_type is not None:
            x = converted(x, self.float_type)
        moved: Array = x if self.device is None else device_put(x, self.device)
        return moved

    def results(self, closed: ClosedJaxpr, args: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """The results of each equation of a program, in order.

        Args:
            closed: the program.
            args: its arguments, as ``operands`` gives them.
        """
        jaxpr = closed.jaxpr
        consts = self.operands(closed.consts)
        if self.together and self.float_type is None:
            yield from self._results_together(closed, [*consts, *args])
            return
        env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, args, strict=True))
        for eqn, freed in zip(jaxpr.eqns, jaxpr.last_uses, strict=True):
            outs = self.apply(eqn, [self._read(env, x) for x in eqn.invars])
            env.update(zip(eqn.outvars, outs, strict=True))
            for v in freed:
                env.pop(v, None)
            yield outs

    def read(self, env: dict[Var, Any], atom: Any) -> Any:
        """The value of an atom; literals get the type and the device of this way."""
        return self._read(env, atom)

    def _read(self, env: dict[Var, Any], atom: Any) -> Any:
        return env[atom] if isinstance(atom, Var) else self._operand(_literal(atom))

    def apply(self, eqn: JaxprEqn, operands: Sequence[Any]) -> list[Any]:
        """The results of one equation for operands of this way."""
        if self.float_type is not None and has_bodies(eqn):
            return run_bodies(eqn, operands, self.run_program, Single())
        if self.float_type is not None:
            return retyped_equation(eqn, operands, self.float_type, self._run)
        return self._run(eqn, operands)

    def run_program(self, label: str, body: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
        """The results of a program or a body, equation by equation."""
        return interpret_jaxpr(body.jaxpr, self.operands(body.consts), args, self._interpreted)

    def _interpreted(self, eqn: JaxprEqn, values: Sequence[Any]) -> Sequence[Any]:
        operands = [self._operand(as_array(x)) for x in values]
        called = called_program(eqn)
        return (
            self.apply(eqn, operands) if called is None else self.run_program("", called, operands)
        )

    def _run(self, eqn: JaxprEqn, operands: Sequence[Any]) -> list[Any]:
        if self.backend is None and not self.together:
            outs = bind_flat(eqn.primitive, operands, eqn.params)
            return [as_array(x) for x in outs]
        with self._settings():
            if self.backend == "numpy":
                return [as_array(x) for x in bind_flat(eqn.primitive, operands, eqn.params)]
            return self._run_compiled(program_of(eqn), operands, _key(eqn))

    def _results_together(self, closed: ClosedJaxpr, args: Sequence[Any]) -> list[list[Any]]:
        jaxpr = closed.jaxpr
        outvars = [v for eqn in jaxpr.eqns for v in eqn.outvars]
        whole = Jaxpr((), [*jaxpr.constvars, *jaxpr.invars], outvars, jaxpr.eqns)
        with self._settings():
            outs = iter(self._run_compiled(ClosedJaxpr(whole), args, id(closed), keep=closed))
            return [[next(outs) for _ in eqn.outvars] for eqn in jaxpr.eqns]

    def _run_compiled(
        self, closed: ClosedJaxpr, operands: Sequence[Any], key: Any, keep: Any = None
    ) -> list[Any]:
        found = self._programs.get(key)
        if found is None or key is None:
            backend = find_backend(self.backend)
            found = executable_of(closed, backend, name="compared", operands=operands), keep
            if key is not None:
                self._programs[key] = found
        return list(found[0](*operands))

    def _settings(self) -> AbstractContextManager[Any]:
        return nullcontext() if self.backend is None else config.override(backend=self.backend)


def way_of(given: Any, parameter: str) -> Way:
    """Make a way of what a user gave.

    Args:
        given: a name, a device, or a tuple of these.
        parameter: the name of the user's argument, for messages.

    Raises:
        ValueError: when a name is none of a way.
        TypeError: when it is neither a name nor a device.

    >>> way_of(("numpy", "float64"), "a").name
    'numpy, float64'
    """
    parts = given if isinstance(given, tuple) else (given,)
    found: dict[str, Any] = {}
    for part in parts:
        for key, value in _part_of(part, parameter).items():
            if found.setdefault(key, value) != value:
                raise ValueError(f"{parameter} of compare says {key} twice: {given!r:.80}.")
    names = [part if isinstance(part, str) else repr(part) for part in parts]
    codes = [repr(part) if isinstance(part, str) else _device_code(part, found) for part in parts]
    code = f"({', '.join(codes)},)" if isinstance(given, tuple) else codes[0]
    return Way(", ".join(names), code, **found)


def _device_code(device: Any, found: dict[str, Any]) -> str:
    return f"bindax.devices({found['backend']!r})[{devices(found['backend']).index(device)}]"


def _part_of(part: Any, parameter: str) -> dict[str, Any]:
    if part == "eager":
        return {}
    if part == "compiled":
        if find_backend().name == "numpy":
            raise BackendError(
                f"{parameter}='compiled' of compare needs a backend that compiles: "
                f"pip install bindax[xla]."
            )
        return {"together": True}
    if isinstance(part, str) and part in FLOAT_TYPES:
        return {"float_type": part}
    if isinstance(part, str):
        try:
            return {"backend": find_backend(part).name}
        except BackendError as error:
            raise ValueError(
                f"{parameter} of compare must be {_KNOWN}, but got {part!r}. As a backend: {error}"
            ) from None
    for name in dict.fromkeys((find_backend().name, "xla", "numpy")):
        if any(part is device for device in _devices_of(name)):
            return {"device": part, "backend": name}
    raise TypeError(f"{parameter} of compare must be {_KNOWN}, but got {part!r:.80}.")


def _devices_of(backend: str) -> list[Any]:
    try:
        return devices(backend)
    except BackendError:
        return []


def _literal(literal: Literal) -> Array:
    value: Array = as_array(literal.val)
    return value


def program_of(eqn: JaxprEqn) -> ClosedJaxpr:
    """A program of one equation, whose operands are its arguments."""
    invars = [Var(x.aval) for x in eqn.invars]
    outvars = [Var(v.aval) for v in eqn.outvars]
    return ClosedJaxpr(Jaxpr((), invars, outvars, [eqn.replace(invars=invars, outvars=outvars)]))


def _key(eqn: JaxprEqn) -> Any:
    """A key that equal equations share; None where a parameter has none."""
    params = tuple(sorted(eqn.params.items(), key=lambda item: item[0]))
    key = (eqn.primitive, tuple([x.aval for x in eqn.invars]), params)
    try:
        hash(key)
    except TypeError:
        return None
    return key
