"""A small primitive, declared right or with wrong rules."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import abstract_eval, impl, jvp, lowering, primitive, transpose, vmap


def declare(name: str = "planted.triple", **wrong: Any) -> Any:
    """``3 x``, with some rules replaced by wrong ones."""

    def bind(x: Any) -> Any:
        return made.bind(x)

    rules = {
        "impl": impl(lambda x: (3 * x).astype(x.dtype)),
        "abstract_eval": abstract_eval(lambda x: x),
        "jvp": jvp(lambda primals, tangents: (bind(*primals), bind(*tangents))),
        "vmap": vmap(lambda size, operands, dims: (bind(*operands), dims[0])),
        "transpose": transpose(lambda ct, x: [bind(ct)]),
        "lowering": lowering["stablehlo"].absent("tested without a compiler"),
    }
    rules |= {kind: rule(bind) if callable(rule) else rule for kind, rule in wrong.items()}
    made = primitive(name, *rules.values())
    return made
