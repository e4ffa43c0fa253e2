"""The custom call that a kernel becomes in a compiled program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bindax_core.extend import BackendError, LoweringContext
from bindax_ffi.attributes import Attributes, make_attributes, string
from bindax_ffi.targets import has_kernel, missing_target

__all__ = ["ffi_lowering"]

Layouts = Sequence[Sequence[int] | None] | None
TYPED = 4
"""The version of custom calls with typed operands and attributes."""


def ffi_lowering(
    call_target_name: str,
    *,
    operand_layouts: Layouts = None,
    result_layouts: Layouts = None,
    operand_output_aliases: Mapping[int, int] | None = None,
    has_side_effect: bool = False,
    backend_config: Mapping[str, Any] | str | None = None,
    api_version: int = TYPED,
    multiple_results: bool = False,
) -> Callable[..., Any]:
    """A ``lowering["stablehlo"]`` rule that calls a kernel.

    For the definition of a primitive of your own. The parameters of the primitive, and what the
    rule is called with by keyword, become attributes.

    Args:
        call_target_name: the name that the kernel is registered by.
        operand_layouts: for each operand, its axes from the fastest to the slowest in memory, or
            None for the usual order, rows first.
        result_layouts: the same for the results.
        operand_output_aliases: ``{operand: result}``: the result takes over the memory.
        has_side_effect: whether it is called though nobody uses its results.
        backend_config: further attributes; for ``api_version`` below 4, a string.
        api_version: the version of custom calls.
        multiple_results: whether the primitive has it.

    Returns:
        ``(ctx, *values, **params) -> value``, or a list of values with ``multiple_results``.

    >>> from bindax_core.extend import rules
    >>> from bindax_ffi import ffi_lowering
    >>> rule = rules.lowering["stablehlo"](ffi_lowering("doc.double"))
    """

    def lower(ctx: LoweringContext, *values: Any, **params: Any) -> Any:
        if not has_kernel(call_target_name, ctx.platform):
            raise BackendError(missing_target(call_target_name, ctx.platform))
        config: Attributes | str | None
        if api_version >= TYPED:
            given = backend_config if isinstance(backend_config, Mapping) else {}
            config = make_attributes(f"ffi_lowering({call_target_name!r})", {**given, **params})
        else:
            config = backend_config if isinstance(backend_config, str) else None
        results = custom_call(
            ctx,
            values,
            target=call_target_name,
            config=config,
            layouts=(operand_layouts, result_layouts),
            aliases=tuple((operand_output_aliases or {}).items()),
            has_side_effect=has_side_effect,
            api_version=api_version,
        )
        return results if multiple_results else results[0]

    return lower


def custom_call(
    ctx: LoweringContext,
    values: Sequence[Any],
    *,
    target: str,
    config: Attributes | str | None,
    layouts: tuple[Layouts, Layouts],
    aliases: Sequence[tuple[int, int]],
    has_side_effect: bool,
    api_version: int,
) -> list[Any]:
    """Add a custom call with the results of the equation."""
    attributes = {
        "call_target_name": string(target),
        "api_version": f"{api_version} : i32",
        "has_side_effect": "true" if has_side_effect else "false",
        "backend_config": config.text if isinstance(config, Attributes) else string(config or ""),
        "operand_layouts": _layouts(ctx.avals_in, layouts[0]),
        "result_layouts": _layouts(ctx.avals_out, layouts[1]),
        "output_operand_aliases": _aliases(aliases, len(ctx.avals_out)),
    }
    return ctx.op("stablehlo.custom_call", values, None, attributes)


def _layouts(avals: Sequence[Any], layouts: Layouts) -> str:
    given = [None] * len(avals) if layouts is None else layouts
    texts = []
    for aval, layout in zip(avals, given, strict=True):
        order = range(aval.ndim - 1, -1, -1) if layout is None else layout
        listed = ", ".join(map(str, order))
        elements = f"[{listed}]" if listed else ""
        texts.append(f"dense<{elements}> : tensor<{aval.ndim}xindex>")
    return f"[{', '.join(texts)}]"


def _aliases(aliases: Sequence[tuple[int, int]], results: int) -> str:
    texts = []
    for operand, result in aliases:
        position = "" if results == 1 else str(result)
        texts.append(
            f"#stablehlo.output_operand_alias<output_tuple_indices = [{position}], "
            f"operand_index = {operand}, operand_tuple_indices = []>"
        )
    return f"[{', '.join(texts)}]"
