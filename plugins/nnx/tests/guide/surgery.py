"""Surgery on a model: low-rank updates, partial training, states taken out and put back."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear1 = nnx.Linear(4, 8, rngs=rngs)
        self.linear2 = nnx.Linear(8, 4, rngs=rngs)
        self.shared = self.linear1

    def __call__(self, x):
        hidden = nnx.relu(self.linear1(x))
        self.sow(nnx.Intermediate, "hidden", hidden)
        return self.linear2(hidden)


def add_rank(layer: nnx.Linear, rngs: nnx.Rngs):
    return nnx.LoRA(
        layer.in_features,
        2,
        layer.out_features,
        base_module=layer,
        b_initializer=nnx.initializers.normal(0.1),
        rngs=rngs,
    )


def main():
    results = {}
    x = jax.random.normal(jax.random.key(5), (6, 4))
    model = MLP(nnx.Rngs(0))
    before = model(x)
    results["before"] = before
    sown = nnx.pop(model, nnx.Intermediate)
    results["sown"] = jax.tree.leaves(sown)[0]
    results["popped"] = jnp.array(hasattr(model, "hidden"))
    results["shared"] = jnp.array(model.shared is model.linear1)

    # Replace layers; the reference that is shared is replaced in one place only.
    rngs = nnx.Rngs(1)
    model.linear1 = add_rank(model.linear1, rngs)
    model.linear2 = add_rank(model.linear2, rngs)
    del model.shared
    results["with rank"] = model(x)
    nnx.pop(model, nnx.Intermediate)

    # Train what was added and nothing else.
    optimizer = nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.LoRAParam)

    @nnx.jit
    def step(model, optimizer, x):
        def loss(model):
            return ((model(x) - x) ** 2).mean()

        argument = nnx.DiffState(0, nnx.LoRAParam)
        value, grads = nnx.value_and_grad(loss, argnums=argument)(model)
        optimizer.update(model, grads)
        nnx.pop(model, nnx.Intermediate)
        return value

    results["losses"] = jnp.stack([step(model, optimizer, x) for _ in range(5)])
    results["frozen"] = model.linear1.base_module.kernel[...]
    results["trained"] = model.linear1.lora_a[...]

    # Take the state out as plain data, change it, and put it in another model.
    graphdef, state = nnx.split(model)
    pure = nnx.to_pure_dict(state)
    results["depth"] = jnp.array([len(pure), len(jax.tree.leaves(pure))])
    pure["linear2"]["base_module"]["bias"] = jnp.ones(4)
    nnx.replace_by_pure_dict(state, pure)
    restored = nnx.merge(graphdef, state)
    results["restored"] = restored(x)

    # An abstract model has shapes alone; it is filled with values by update.
    def create():
        fresh = MLP(nnx.Rngs(9))
        fresh.linear1 = add_rank(fresh.linear1, nnx.Rngs(9))
        fresh.linear2 = add_rank(fresh.linear2, nnx.Rngs(9))
        del fresh.shared
        return fresh

    abstract = nnx.eval_shape(create)
    results["abstract"] = jnp.array(abstract.linear1.lora_a.shape)
    nnx.pop(restored, nnx.Intermediate)
    nnx.update(abstract, nnx.state(restored))
    results["filled"] = abstract(x)

    # Parts of the state by type, path and combination.
    params, ranks = nnx.state(model, nnx.LoRAParam, nnx.Param)[::-1]
    biases = nnx.state(model, nnx.All(nnx.Param, nnx.PathContains("bias")))
    others = nnx.state(model, nnx.Not(nnx.Any(nnx.LoRAParam, nnx.PathContains("kernel"))))
    results["numbers"] = jnp.array(
        [len(jax.tree.leaves(part)) for part in (params, ranks, biases, others)]
    )

    # A copy shares nothing with the original.
    copy = nnx.clone(model)
    copy.linear1.lora_b[...] = copy.linear1.lora_b[...] * 0.0
    results["cloned"] = jnp.stack([copy(x).sum(), model(x).sum()])
    return results
