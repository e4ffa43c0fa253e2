"""Functions evaluated by a backend, and by the reference that it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from bindax_core import config, effects_barrier
from bindax_core.errors import BackendError, MissingRuleError
from bindax_core.extend import Array, Jaxpr, find_backend, subjaxprs
from bindax_testing._cases import Call
from bindax_testing._compare import Mismatch, NotApplicable, host
from bindax_transforms import jit, make_jaxpr

Function = Callable[..., Any]


class Refused(NotApplicable):
    """A backend says that it does not support a primitive: ``primitive``, its name."""

    def __init__(self, primitive: str, message: str) -> None:
        super().__init__(f"not supported: {message}")
        self.primitive = primitive


def on_backend(name: str, function: Function, *operands: Any, **options: Any) -> list[Any]:
    """The results of a function that a backend compiles, when they are there.

    Raises:
        Refused: it says that it does not support a primitive.
        Mismatch: its error does not say which.
    """
    return compiled_by(name, function, **options)(*operands)


def compiled_by(name: str, function: Function, **options: Any) -> Callable[..., list[Any]]:
    """A function that a backend compiles, which raises as ``on_backend`` does."""
    compiled = _fresh(name, function, options)

    def run(*operands: Any) -> list[Any]:
        try:
            return run_on(name, compiled, operands)
        except (MissingRuleError, BackendError) as error:
            raise refusal(name, error, primitives_of(function, operands)) from error

    return run


def results_of(name: str, function: Function, *operands: Any, **options: Any) -> list[Any]:
    """The results of a function that a backend compiles; its errors are raised as they are."""
    return run_on(name, _fresh(name, function, options), operands)


def _fresh(name: str, function: Function, options: Mapping[str, Any]) -> Function:
    """A compiled function that nothing is remembered for."""
    return jit(lambda *operands: function(*operands), backend=name, **options)


def run_on(name: str, compiled: Function, operands: Sequence[Any]) -> list[Any]:
    """The results of a compiled function, when they are there."""
    with config.override(backend=name):
        return [_there(x) for x in compiled(*operands)]


def _there(x: Any) -> Any:
    """A result, when it is computed."""
    if isinstance(x, Array):
        x.block_until_ready()
    host(x)
    return x


def refusal(name: str, error: Exception, primitives: Sequence[str]) -> Exception:
    """The meaning of an error: a primitive is refused, or it does not say what is wrong."""
    text = " ".join([str(error), *getattr(error, "__notes__", ())])
    named = [one for one in primitives if one in text]
    if named and (name in text or repr(name) in text):
        return Refused(max(named, key=len), str(error).partition("\n")[0])
    wanted = "the primitive" if name in text else "the primitive and the backend"
    return Mismatch(
        f"raised {type(error).__name__}: {error!s:.300}; an error of what is not supported must "
        f"name {wanted}: raise MissingRuleError(\"... the backend '{name}' has no ... for ...\")."
    )


def primitives_of(function: Function, operands: Sequence[Any]) -> list[str]:
    """The names of the primitives that a function applies."""
    return list(dict.fromkeys(_names(make_jaxpr(function)(*operands).jaxpr)))


def _names(jaxpr: Jaxpr) -> Iterator[str]:
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        for _, inner in subjaxprs(eqn.params):
            yield from _names(inner.jaxpr)


def by_reference(function: Function, *operands: Any) -> list[Any]:
    """The results of a function that the rules for evaluation give."""
    with config.override(backend="numpy"):
        return list(function(*operands))


@attrs.frozen(eq=False)
class BackendCall(Call):
    """A backend to check, as checks of packages get it.

    Attributes:
        name: the name of the backend.
        seed: what values are drawn from.

    >>> call = BackendCall("numpy")
    >>> [float(x) for x in call.results(lambda x: [x + x], 1.5)]
    [3.0]
    """

    name: str
    seed: int = 0
    draws: tuple[tuple[Any, ...], ...] = ((),)
    label: str = ""
    skip: Mapping[str, str] = attrs.field(factory=dict)
    no_derivative: tuple[int, ...] = ()

    @property
    def backend(self) -> Any:
        """The backend."""
        return find_backend(self.name)

    def call(self, *operands: Any) -> list[Any]:
        """Give no results: what is called are functions of the checks."""
        return []

    def results(self, function: Function, *operands: Any, **options: Any) -> list[Any]:
        """The results of a function, a list, compiled by the backend; options are those of ``jit``.

        Raises:
            NotApplicable: the backend does not support a primitive, and says so.
        """
        return on_backend(self.name, function, *operands, **options)

    def require_error(self, what: str, text: str, function: Function, *operands: Any) -> None:
        """Raise unless the backend raises an error with a text, when called or waited for."""
        try:
            results_of(self.name, function, *operands)
            effects_barrier()
        except Exception as error:
            notes = " ".join(getattr(error, "__notes__", ()))
            if text in f"{error} {notes} {error.__cause__}":
                return
            if isinstance(error, (MissingRuleError, BackendError)):
                raise refusal(self.name, error, primitives_of(function, operands)) from error
            raise Mismatch(f"{what}: raised {error!r:.300}, without {text!r}.") from error
        raise Mismatch(f"{what}: the error {text!r} is lost, and results are returned.")

    def expected(self, function: Function, *operands: Any) -> list[Any]:
        """The results of a function, a list, by evaluation without a compiler."""
        return by_reference(function, *operands)

    @property
    def description(self) -> str:
        """The name of the backend."""
        return f"the backend {self.name!r}"


@attrs.frozen(eq=False)
class BackendCheck:
    """A check of backends that a package gives; made by ``backend_check``.

    Attributes:
        name: what reports call it.
        run: takes a ``BackendCall``; raises AssertionError where the backend is wrong.

    >>> BackendCheck("nothing", lambda call: None).name
    'nothing'
    """

    name: str
    run: Callable[[BackendCall], None]


def backend_check(name: str, run: Callable[[BackendCall], None]) -> BackendCheck:
    """Make a check of backends, for the hook ``bindax_function_checks``.

    Args:
        name: what reports call it.
        run: takes a ``BackendCall``: ``results(function, *operands)`` are those of the backend,
            ``expected(function, *operands)`` those of evaluation. It raises ``AssertionError``
            where the backend is wrong, and ``NotApplicable`` where it has nothing to say.

    >>> def doubles(call):
    ...     (x,) = call.results(lambda x: [x + x], 1.5)
    ...     assert float(x) == 3.0
    >>> backend_check("doubles", doubles).name
    'doubles'
    """
    return BackendCheck(name, run)
