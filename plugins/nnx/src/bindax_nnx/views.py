"""Options of the modules of a graph in ``view``."""

from __future__ import annotations

import inspect
from typing import Any

from bindax_nnx.filters import Filter, to_predicate
from bindax_nnx.module import iter_modules


def view_info(node: Any, /, *, only: Filter = ..., graph: bool | None = None) -> str:
    """Text on the arguments that the methods ``set_view`` of the modules of a graph take.

    Args:
        node: the root.
        only: which modules.
        graph: whether variables may be shared; by default as ``set_graph_mode`` says.

    >>> from bindax_nnx import Dropout
    >>> print(view_info(Dropout(0.5)).splitlines()[0])
    Dropout:
    """
    takes = to_predicate(only)
    classes = {
        type(module)
        for path, module in iter_modules(node, graph=graph)
        if hasattr(module, "set_view") and takes(path, module)
    }
    ordered = sorted(classes, key=lambda cls: cls.__qualname__)
    return "\n".join(line for cls in ordered for line in _described(cls))


def _described(cls: Any) -> list[str]:
    doc = inspect.getdoc(cls.set_view)
    parameters = list(inspect.signature(cls.set_view).parameters.values())[1:]
    if doc is None:
        return [f"{cls.__qualname__}:", f"  set_view{inspect.signature(cls.set_view)}"]
    texts = _documented(doc)
    lines = [f"{cls.__qualname__}:"]
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        has_default = parameter.default is not parameter.empty
        default = f" = {parameter.default}" if has_default else ""
        lines.append(f"  {parameter.name}: {_type_text(parameter.annotation)}{default}")
        lines += [f"    {line}" for line in texts.get(parameter.name, [])]
    return lines


def _type_text(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _documented(doc: str) -> dict[str, list[str]]:
    """The lines about each argument in a docstring."""
    texts: dict[str, list[str]] = {}
    name, margin = "", -1
    for line in doc.partition("Args:\n")[2].partition("Returns:\n")[0].splitlines():
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        margin = depth if margin < 0 else margin
        if depth == margin:
            name, _, rest = line.strip().partition(":")
            texts[name] = [rest.strip()]
        else:
            texts[name].append(line.strip())
    return texts
