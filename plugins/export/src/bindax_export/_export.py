"""Exporting a compiled function for types whose sizes can be symbolic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import (
    ClosedJaxpr,
    api_boundary,
    config,
    describe_function,
    find_backend,
    float0,
    is_extended,
    jaxpr_as_fun,
    zeros_like_aval,
)
from bindax_export._backend import exporting_backend
from bindax_export._checks import STABLE_TARGETS, DisabledSafetyCheck
from bindax_export._errors import ExportError
from bindax_export._exported import Exported, cotangent_avals
from bindax_export._format import (
    KEY_WORDS,
    maximum_supported_calling_convention_version,
    minimum_supported_calling_convention_version,
)
from bindax_export._places import (
    Places,
    argument_shardings,
    result_shardings,
    without_devices,
)
from bindax_export._shapes import ShapeSolver, require_one_scope, result_paths
from bindax_transforms import check_function, jit, physical_jaxpr, vjp

_SHARDY = 10
"""The first calling convention whose readers know how Shardy divides a program."""


def default_export_platform() -> str:
    """The platform that ``export`` uses unless it is told: that of the default backend.

    >>> default_export_platform()
    'cpu'
    """
    return find_backend().platform


@api_boundary
def export(
    fun_jit: Any,
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[DisabledSafetyCheck] = (),
) -> Callable[..., Exported]:
    """Export a compiled function: lower it to a program that can be written to a file.

    Args:
        fun_jit: a function, as ``jit`` takes it or gives it.
        platforms: what the program is for, such as ``"cpu"``, ``"cuda"``, ``"rocm"``, ``"tpu"`` or
            the name of another; the platform of the default backend when omitted.
        disabled_checks: checks to leave out.

    Returns:
        A function of arrays, or types in their place, that gives the ``Exported`` program for
        arguments of these types. Their sizes can be symbolic.

    Raises:
        TypeError: when ``fun_jit`` is no function.
        ExportError: when the program cannot be exported.

    >>> import numpy as np
    >>> from bindax_core import ShapeDtypeStruct
    >>> from bindax_export import deserialize, export, symbolic_shape
    >>> from bindax_transforms import jit
    >>> (b,) = symbolic_shape("b")
    >>> exported = export(jit(lambda x: x * 2))(ShapeDtypeStruct((b,), np.float32))
    >>> deserialize(exported.serialize()).call(np.ones(3, np.float32))
    Array([2., 2., 2.], dtype=float32)
    """
    if not (hasattr(fun_jit, "trace") and hasattr(fun_jit, "lower")):
        check_function("export", "fun_jit", fun_jit)
        fun_jit = jit(fun_jit)
    chosen = _platforms(platforms)
    checks = tuple(disabled_checks)
    for check in checks:
        if not isinstance(check, DisabledSafetyCheck):
            raise TypeError(
                f"export: disabled_checks holds {check!r}, which is no DisabledSafetyCheck."
            )

    @api_boundary
    def exporting(*args: Any, **kwargs: Any) -> Exported:
        require_one_scope(describe_function(fun_jit), args, kwargs)
        traced = fun_jit.trace(*args, **kwargs)
        if traced.references:
            raise ValueError(
                f"export of {traced.fun_name}: the function uses a mutable array reference of type "
                f"{traced.references[0].aval.str_short()}, which a file does not hold. Take its "
                f"value as an argument, and return the new one."
            )
        return _exported(traced.jaxpr, traced, chosen, checks)

    return exporting


def _platforms(given: Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return (default_export_platform(),)
    if isinstance(given, str) or not given:
        raise ValueError(
            f"export: platforms is a sequence of names such as ['cpu'], not {given!r}."
        )
    for platform in given:
        if platform == "gpu":
            raise ValueError(
                "export: there is no platform 'gpu'; those of GPUs are 'cuda' and 'rocm'."
            )
    return tuple(dict.fromkeys(given))


def _exported(
    closed: ClosedJaxpr,
    traced: Any,
    platforms: tuple[str, ...],
    checks: tuple[DisabledSafetyCheck, ...],
) -> Exported:
    name = traced.fun_name
    _refuse(closed, name)
    in_avals = tuple(aval.strip_weak_type() for aval in closed.in_avals)
    solver = ShapeSolver(in_avals, name, traced.in_tree)
    inputs = argument_shardings(closed, traced.argument_shardings)
    outputs = result_shardings(closed)
    backend = exporting_backend()
    artifact = backend.exporting.export_program(
        backend,
        physical_jaxpr(closed),
        name=name,
        platforms=platforms,
        dimensions=solver,
        in_shardings=inputs,
        out_shardings=outputs,
        result_names=result_paths(traced.out_tree, closed.out_avals),
    )
    allowed = STABLE_TARGETS | {check.is_custom_call() for check in checks}
    unknown = sorted(artifact.custom_calls - allowed)
    if unknown:
        raise ExportError(
            f"{name} calls {', '.join(unknown)} outside of XLA, which need not exist where the "
            f"program is run later. If you see to it, pass disabled_checks="
            f"[DisabledSafetyCheck.custom_call({unknown[0]!r})]."
        )
    return Exported(
        fun_name=name,
        in_tree=traced.in_tree,
        in_avals=in_avals,
        out_tree=traced.out_tree,
        out_avals=tuple(aval.strip_weak_type() for aval in closed.out_avals),
        platforms=platforms,
        mlir_module_serialized=artifact.module,
        calling_convention_version=_convention(name, artifact.device_count),
        module_kept_var_idx=artifact.kept,
        disabled_safety_checks=checks,
        nr_devices=artifact.device_count,
        in_shardings=without_devices(inputs),
        out_shardings=without_devices(outputs),
        uses_global_constants=artifact.is_symbolic or len(platforms) > 1,
        get_vjp=lambda primal: _exported_vjp(closed, primal, inputs, outputs),
    )


def _convention(name: str, device_count: int) -> int:
    """The version of the calling convention that a program is written with."""
    version = config.export_calling_convention_version
    low = minimum_supported_calling_convention_version
    high = maximum_supported_calling_convention_version
    if not low <= version <= high:
        raise ExportError(
            f"The requested export calling convention version {version} is outside the range of "
            f"supported versions, {low} to {high}; change "
            f"config.export_calling_convention_version."
        )
    if version < _SHARDY and device_count > 1:
        raise ExportError(
            f"{name} is for {device_count} devices, which programs of the calling convention "
            f"{version} cannot say; export it with the version {_SHARDY}."
        )
    return version  # type: ignore[no-any-return]


def _refuse(closed: ClosedJaxpr, name: str) -> None:
    effects = sorted(effect.name for effect in closed.jaxpr.effects)
    if effects:
        raise ExportError(
            f"{name} has effects of the kinds {', '.join(effects)}, which act in this process; "
            f"a program that is exported computes its results and no more. Leave them out."
        )
    for aval in (*closed.in_avals, *closed.out_avals):
        array = hasattr(aval, "dtype")
        if not array or (is_extended(aval.dtype) and aval.dtype.names[0] not in KEY_WORDS):
            raise ExportError(
                f"{name} takes or gives a value of type {aval.str_short()}, which files cannot "
                f"hold; pass the array that represents it, as with random.key_data."
            )


def _exported_vjp(
    closed: ClosedJaxpr, primal: Exported, inputs: Places, outputs: Places
) -> Exported:
    """The reverse derivative of a program, exported in the same way."""
    function = jaxpr_as_fun(closed)
    count = len(primal.in_avals)
    smooth = [aval.tangent_aval().dtype != float0 for aval in primal.in_avals]

    def fun_vjp(*operands: Any) -> tuple[Any, ...]:
        values, cotangents = operands[:count], operands[count:]

        def of_smooth(*given: Any) -> tuple[Any, ...]:
            found = iter(given)
            return tuple(
                function(*[next(found) if s else x for s, x in zip(smooth, values, strict=True)])
            )

        _, pullback = vjp(of_smooth, *[x for s, x in zip(smooth, values, strict=True) if s])
        found = iter(pullback(tuple(cotangents)))
        # Cotangents of integers are carried as booleans; so they are made as such.
        return tuple(
            next(found) if s else zeros_like_aval(aval.update(dtype=np.dtype(np.bool_)))
            for s, aval in zip(smooth, primal.in_avals, strict=True)
        )

    avals = [*primal.in_avals, *cotangent_avals(primal.out_avals)]
    fun_vjp.__name__ = f"vjp_{primal.fun_name}"
    placed = [
        aval if sharding is None else aval.update(sharding=sharding)
        for aval, sharding in zip(avals, (*inputs, *outputs), strict=True)
    ]
    traced = jit(fun_vjp, out_shardings=inputs if any(inputs) else None).trace(*placed)
    made = _exported(traced.jaxpr, traced, primal.platforms, primal.disabled_safety_checks)
    return attrs.evolve(made, out_avals=tuple(cotangent_avals(primal.in_avals)))
