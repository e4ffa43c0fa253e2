"""Looking into compiled programs: text, estimates, memory, layouts."""

from __future__ import annotations

import re
from typing import Any

from bindax_xla_backend._jaxlib import _jax


def hlo_text(executable: Any) -> str:
    """The optimized program of an executable."""
    return "\n\n".join(module.to_string() for module in executable.hlo_modules())


def cost_analysis(client: Any, executable: Any) -> dict[str, float]:
    """XLA's estimates for a compiled program: ``flops``, ``bytes accessed`` and others."""
    estimates: dict[str, float] = {}
    for module in executable.hlo_modules():
        estimates.update(_jax.hlo_module_cost_analysis(client, module))
    estimates.update(executable.cost_analysis())
    return estimates


def memory_analysis(executable: Any) -> dict[str, int]:
    """The bytes that a compiled program needs, by purpose."""
    stats = executable.get_compiled_memory_stats()
    return {
        "argument_size_in_bytes": int(stats.argument_size_in_bytes),
        "output_size_in_bytes": int(stats.output_size_in_bytes),
        "alias_size_in_bytes": int(stats.alias_size_in_bytes),
        "temp_size_in_bytes": int(stats.temp_size_in_bytes),
        "generated_code_size_in_bytes": int(stats.generated_code_size_in_bytes),
    }


def unoptimized_costs(client: Any, computation: Any) -> dict[str, float]:
    """XLA's estimates for a program as it was lowered."""
    return dict(_jax.hlo_module_cost_analysis(client, computation.get_hlo_module()))


def parameter_layouts(executable: Any) -> list[str]:
    """The layouts of the parameters, such as ``{1,0}``: axes from the fastest to the slowest."""
    return [str(layout) for layout in executable.get_parameter_layouts()]


def output_layouts(executable: Any) -> list[str]:
    """The layouts of the results."""
    return [str(layout) for layout in executable.get_output_layouts()]


def exchanges_values(loaded: Any) -> bool:
    """Tell whether the devices of a compiled program exchange values."""
    return _EXCHANGE.search(hlo_text(loaded)) is not None


_EXCHANGE = re.compile(r" (all-(reduce|gather|to-all)|reduce-scatter|collective-\w+)(-start)?\(")
