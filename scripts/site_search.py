"""Search the built site for names that users type, by its own search worker; needs Node.

    uv run --group docs mkdocs build --strict
    uv run python scripts/site_search.py build/site

Each query has the pages that are right as the first one found.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

WORKER = Path(__file__).resolve().parent / "site_search.js"
ALLOWED = 2
"""The number of queries that may find another page first."""
RIGHT = {
    "grad": ("reference/bindax/#bindax.grad",),
    "value_and_grad": ("reference/bindax/#bindax.value_and_grad",),
    "jit": ("reference/bindax/#bindax.jit",),
    "vmap": ("reference/bindax/#bindax.vmap",),
    "jvp": ("reference/bindax/#bindax.jvp",),
    "vjp": ("reference/bindax/#bindax.vjp",),
    "hessian": ("reference/bindax/#bindax.hessian",),
    "jacrev": ("reference/bindax/#bindax.jacrev",),
    "checkpoint": ("checkpointing/", "reference/bindax/#bindax.checkpoint"),
    "remat": ("checkpointing/", "reference/bindax/#bindax.remat"),
    "make_jaxpr": ("reference/bindax/#bindax.make_jaxpr",),
    "custom_vjp": ("reference/bindax/#bindax.custom_vjp",),
    "custom_jvp": ("reference/bindax/#bindax.custom_jvp",),
    "device_put": ("reference/bindax/#bindax.device_put",),
    "pure_callback": ("reference/bindax/#bindax.pure_callback",),
    "shard_map": ("shard_map/", "reference/bindax/#bindax.shard_map"),
    "pmap": ("reference/bindax/#bindax.pmap",),
    "scan": ("lax/control_flow/#bindax.lax.scan",),
    "lax.scan": ("lax/control_flow/#bindax.lax.scan",),
    "while_loop": ("lax/control_flow/#bindax.lax.while_loop",),
    "fori_loop": ("lax/control_flow/#bindax.lax.fori_loop",),
    "cond": ("lax/control_flow/#bindax.lax.cond",),
    "switch": ("lax/control_flow/#bindax.lax.switch",),
    "psum": ("lax/parallel/#bindax.lax.psum",),
    "dot_general": ("lax/dot_general/#bindax.lax.dot_general",),
    "stop_gradient": ("lax/transforms/#bindax.lax.stop_gradient", "lax/"),
    "einsum": ("reference/numpy/einsum/#bindax.numpy.einsum",),
    "jnp.where": ("reference/numpy/comparison/#bindax.numpy.where",),
    "where": ("reference/numpy/comparison/#bindax.numpy.where",),
    "linspace": ("reference/numpy/ranges/#bindax.numpy.linspace",),
    "argsort": ("reference/numpy/sorting/#bindax.numpy.argsort",),
    "jnp.float32": ("reference/numpy/dtypes/#bindax.numpy.float32", "dtypes/"),
    "linalg.svd": ("reference/numpy_linalg/#bindax.numpy.linalg.svd", "lax/linalg/"),
    "numpy.fft.fft": ("reference/numpy_fft/#bindax.numpy.fft.fft",),
    "PRNGKey": ("reference/random/#bindax.random.PRNGKey",),
    "random.normal": ("reference/random/#bindax.random.normal",),
    "random.split": ("reference/random/#bindax.random.split", "random/"),
    "softmax": ("reference/nn/#bindax.nn.softmax",),
    "relu": ("reference/nn/#bindax.nn.relu",),
    "nnx.Linear": ("reference/nnx/layers_linear/#bindax.nnx.Linear",),
    "nnx.Module": ("reference/nnx/module/#bindax.nnx.Module", "nnx/"),
    "Dropout": ("reference/nnx/layers_dropout/#bindax.nnx.Dropout",),
    "BatchNorm": ("reference/nnx/layers_normalization/#bindax.nnx.BatchNorm",),
    "MultiHeadAttention": ("reference/nnx/layers_attention/#bindax.nnx.MultiHeadAttention",),
    "adam": ("reference/optimizers/adam_optimizers/#bindax.optimizers.adam", "optimizers/"),
    "tree_map": ("reference/trees/#bindax.tree_util.tree_map", "reference/trees/"),
    "register_pytree_node": ("reference/trees/#bindax.tree_util.register_pytree_node",),
    "segment_sum": ("reference/arrays/#bindax.ops.segment_sum",),
    "NamedSharding": ("reference/bindax/#bindax.NamedSharding", "reference/sharding/"),
    "logsumexp": ("reference/nn/#bindax.nn.logsumexp", "reference/scipy/"),
    "norm.logpdf": ("reference/scipy_stats/#bindax.scipy.stats.norm.logpdf",),
    "ConcretizationTypeError": ("reference/errors/#bindax.errors.ConcretizationTypeError",),
    "primitive": ("guides/primitive/", "reference/extend/"),
    "ffi_call": ("reference/ffi/#bindax.ffi.ffi_call",),
    "vmap in_axes": ("reference/bindax/#bindax.vmap",),
    "eval_shape": ("reference/bindax/#bindax.eval_shape",),
    "debug.print": ("reference/debug/#bindax.debug.print", "effects/"),
    "cross_entropy": (
        "from_pytorch/",  # whose name it is
        "reference/optimizers/losses_classification/#bindax.optimizers.softmax_cross_entropy_with_integer_labels",
        "reference/optimizers/losses_classification/#bindax.optimizers.softmax_cross_entropy",
    ),
    "one_hot": ("reference/nn/#bindax.nn.one_hot",),
    "clip_by_global_norm": (
        "reference/optimizers/clipping/#bindax.optimizers.clip_by_global_norm",
    ),
    "jnp.concatenate": ("reference/numpy/concatenate/#bindax.numpy.concatenate",),
    "dynamic_slice": ("lax/dynamic_slice/#bindax.lax.dynamic_slice",),
    "nnx.Optimizer": ("reference/nnx/optimizer/#bindax.nnx.Optimizer",),
    "TracerArrayConversionError": ("reference/errors/#bindax.errors.TracerArrayConversionError",),
    "optax": ("optimizers/", "packages/optimizers/", "reference/optimizers/"),
}


def found(site: Path) -> dict[str, list[list[str]]]:
    """Return the groups of places that each query finds, the best ones first."""
    command = ["node", str(WORKER), str(site), *RIGHT]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    answers = (json.loads(line) for line in ran.stdout.splitlines())
    return {
        one["query"]: [[place["location"] for place in group] for group in one["found"]]
        for one in answers
    }


def is_right(query: str, groups: list[list[str]]) -> bool:
    """Tell whether the first page is right, and its section among the first three that it shows."""
    shown = groups[0][:3] if groups else []
    return any(
        place.startswith(right) if right.endswith("/") else place == right
        for right in RIGHT[query]
        for place in (shown[:1] if right.endswith("/") else shown)
    )


def main(arguments: list[str]) -> int:
    """Search a site; fail where too many queries find another page first."""
    if shutil.which("node") is None:
        print("the search of the site is not tested: Node is not installed")
        return 0
    site = Path(arguments[0] if arguments else "build/site")
    wrong = {query: groups for query, groups in found(site).items() if not is_right(query, groups)}
    for query, groups in wrong.items():
        print(f"{query}: found {[group[:2] for group in groups[:2]]}, not {RIGHT[query]}")
    print(f"{len(RIGHT) - len(wrong)} of {len(RIGHT)} names find the right page first")
    return int(len(wrong) > ALLOWED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
