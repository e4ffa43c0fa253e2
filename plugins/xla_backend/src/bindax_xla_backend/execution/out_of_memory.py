"""The error of a program that a device has no memory for: what takes it, and what helps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from bindax_core.extend import describe_live_arrays, size_text
from bindax_xla_backend._errors import AllocationError, ExecutionError, excerpt
from bindax_xla_backend.distributed.failures import execution_error
from bindax_xla_backend.execution.program_values import ProgramValue, largest_values

if TYPE_CHECKING:
    from bindax_xla_backend.execution.backend import XlaBackend

_REFUSED = "RESOURCE_EXHAUSTED"
_WANTED = re.compile(r"allocat\w+ (?:\D{0,20} )?([\d.]+) ?(bytes|B|KiB|MiB|GiB|TiB)\b")
_UNITS = {"bytes": 0, "B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4}
_MOST_READ = 16
"""Of programs whose text is searched for one that needs so much."""
_LEAST_NAMED = 2**20
"""Bytes below which many programs allocate as much by chance."""

_ADVICE = (
    "Less memory is needed with donate_argnums for arguments that are not used again, with "
    "bindax.checkpoint around what a gradient keeps, with smaller batches or types; "
    "bindax.inspect(f)(...) shows the memory of f by line."
)


def run_failure(
    what: str, error: Exception, backend: XlaBackend, executable: Any = None
) -> ExecutionError:
    """The error for what XLA raised when a program ran.

    Args:
        what: what failed.
        error: what XLA raised.
        backend: the one whose program ran.
        executable: the program; None where it is one of those that were started before.
    """
    text = str(error)
    if _REFUSED not in text:
        return execution_error(what, error)
    programs = [executable] if executable else _programs_that_need(backend, _wanted(text))
    parts = [f"{what}: {excerpt(text)}"]
    if programs and not executable:
        names = " or ".join(dict.fromkeys(program.name for program in programs))
        parts.append(f"The program is {names}, by the size of what it allocates.")
    parts += [describe_program(program) for program in programs[:1]]
    parts += [describe_live_arrays(None if backend.host_accessible else backend.name), _ADVICE]
    return AllocationError("\n".join(parts))


def describe_program(executable: Any) -> str:
    """The memory that a compiled program needs, and its largest values by line."""
    needed = executable.memory_analysis()
    purposes = [("temporaries", "temp"), ("results", "output"), ("arguments", "argument")]
    sizes = [f"{size_text(needed[f'{name}_size_in_bytes'])} for {what}" for what, name in purposes]
    values = [value for value in largest_values(executable.as_text()) if value.size]
    head = f"{executable.name} needs {', '.join(sizes)}"
    return "\n".join(
        [f"{head}; its largest values:" if values else f"{head}.", *map(_line, values)]
    )


def _line(value: ProgramValue) -> str:
    name = f", {value.name}" if value.name else ""
    line = f" at {value.line}" if value.line else ""
    return f"  {value.type}: {size_text(value.size)}{name}{line}"


def _wanted(text: str) -> float:
    """The bytes that an allocation asked for; 0 where the message does not tell.

    >>> _wanted("Out of memory allocating 14400000000 bytes.")
    14400000000.0
    >>> _wanted("Out of memory while trying to allocate 1.50GiB.")
    1610612736.0
    """
    found = _WANTED.search(text)
    return float(found[1]) * 1024 ** _UNITS[found[2]] if found else 0.0


def _programs_that_need(backend: XlaBackend, wanted: float) -> list[Any]:
    """The compiled programs that allocate about so many bytes at once."""
    if wanted < _LEAST_NAMED:
        return []
    programs: list[Any] = [x for x in backend.executables if hasattr(x, "memory_analysis")]
    large = []
    for executable in programs:
        sizes = executable.memory_analysis()
        if sizes["temp_size_in_bytes"] + sizes["output_size_in_bytes"] > 0.99 * wanted:
            large.append((sizes["temp_size_in_bytes"], executable))
    large.sort(key=lambda one: one[0])
    return [
        executable
        for temporary, executable in large[:_MOST_READ]
        if _is_near(temporary, wanted)
        or any(_is_near(value.size, wanted) for value in largest_values(executable.as_text(), 64))
    ]


def _is_near(size: float, wanted: float) -> bool:
    return abs(size - wanted) < 0.01 * wanted
