"""One of several processes that run a training step together, and say what it took."""

import json
import os
import sys

import _divided_programs as programs
import numpy as np

import bindax
from bindax import NamedSharding, P

count, me = int(os.environ["PROCESSES"]), int(os.environ["PROCESS"])
bindax.distributed.initialize(os.environ["COORDINATOR"], count, me, local_device_ids=[0])
specs = programs.SPECS[sys.argv[1]]
mesh = bindax.make_mesh((count // 2, 2), ("data", "model"))


def placed(shape, spec):
    whole = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return bindax.make_array_from_callback(shape, NamedSharding(mesh, spec), lambda i: whole[i])


def held(tree):
    leaves = bindax.tree.leaves(tree)
    return sum(shard.data.nbytes for x in leaves for shard in x.addressable_shards)


params = {name: placed(shape, specs[name]) for name, shape in programs.SHAPES.items()}
operands = params, placed((programs.ROWS, programs.WIDTH), P("data"))
taken = held(operands)
step = programs.step_on(mesh, specs)
compiled = step.lower(*operands).compile()
found = {
    "plan": compiled.memory_analysis(),
    "exchanged": programs.counted(compiled.as_text()),
    "taken": taken,
    "left": held(step(*operands)),
}
print("found", json.dumps(found))
