"""The ground state of an Ising chain with netket: by variational Monte Carlo, and exactly."""

import json

import flax.linen as nn
import jax
import jax.numpy as jnp
import netket as nk
import numpy as np
import optax

SITES, FIELD = 8, 1.0


class Jastrow(nn.Module):
    """Correlations of pairs of spins, and a field."""

    @nn.compact
    def __call__(self, spins):
        n = spins.shape[-1]
        pairs = self.param("pairs", nn.initializers.normal(0.01), (n, n), float)
        field = self.param("field", nn.initializers.normal(0.01), (n,), float)
        return jnp.einsum("...i,ij,...j->...", spins, pairs, spins) + spins @ field


def describe():
    """The chain, its space of states and its Hamiltonian; their exact energies."""
    graph = nk.graph.Chain(length=SITES, pbc=True)
    space = nk.hilbert.Spin(s=1 / 2, N=SITES)
    hamiltonian = nk.operator.IsingJax(space, graph=graph, h=FIELD, J=-1.0)
    print(graph, "edges", graph.n_edges, "distances", graph.distances()[0])
    print(space, "states", space.n_states)
    print(space.all_states()[:3])
    print(hamiltonian, "hermitian", hamiltonian.is_hermitian)
    states, elements = hamiltonian.get_conn_padded(space.all_states()[:2])
    print("connected", states.shape, elements)
    dense = hamiltonian.to_dense()
    print("matrix", dense.shape, dense.dtype, "trace", dense.trace(), "norm", np.linalg.norm(dense))
    energies = nk.exact.lanczos_ed(hamiltonian, k=3)
    print("lowest energies", energies)
    magnetization = sum(nk.operator.spin.sigmaz(space, i) for i in range(SITES)) / SITES
    flips = sum(nk.operator.spin.sigmax(space, i) for i in range(SITES)) / SITES
    print(flips, "of", flips.hilbert)
    product = magnetization @ magnetization
    print("square has", len(product.operators), "terms")
    return graph, space, hamiltonian, energies[0], {"zz": product, "x": flips}


def show_state(title, state, observables):
    """Print what a state has, and what is measured in it."""
    print(f"--- {title}: {state.n_parameters} parameters, {state.n_samples} samples")
    for path, x in jax.tree_util.tree_leaves_with_path(state.parameters):
        print(
            f"{jax.tree_util.keystr(path)} {x.dtype}{list(x.shape)} norm {jnp.linalg.norm(x):.6f}"
        )
    for name, operator in observables.items():
        print(name, state.expect(operator))


def minimize(title, state, hamiltonian, exact, steps, rate, **options):
    """Lower the energy of a state, and print each step."""
    driver = nk.driver.VMC(hamiltonian, optax.sgd(rate), variational_state=state, **options)
    log = nk.logging.RuntimeLog()

    def report(step, data, driver):
        energy = driver.energy
        data["error"] = abs(float(energy.mean.real) - exact)
        print(f"{title} {step}: {energy} acceptance {state.sampler_state.acceptance:.4f}")
        return True

    driver.run(steps, out=log, callback=report, show_progress=False)
    print("steps", driver.step_count, "logged", sorted(log.data))
    history = log.data["Energy"]
    print(repr(history))
    for n in range(0, steps, 5):
        mean, deviation = history["Mean"][n].real, history["Sigma"][n]
        print(f"  {n}: {mean:.8f} ± {deviation:.8f} R {history['R_hat'][n]:.6f}")
    print(f"error at last {log.data['error'].values[-1]:.8f}")
    return log


def main():
    graph, space, hamiltonian, exact, observables = describe()
    sampler = nk.sampler.MetropolisLocal(space, n_chains=16)
    print(sampler)
    state = nk.vqs.MCState(
        sampler, nk.models.RBM(alpha=1, param_dtype=float), n_samples=512, seed=3, sampler_seed=4
    )
    show_state("restricted Boltzmann machine", state, observables)
    print(state.samples.shape, state.samples[0, :2])
    energy, gradient = state.expect_and_grad(hamiltonian)
    print("energy", energy)
    print("gradient", [f"{jnp.linalg.norm(g):.8f}" for g in jax.tree.leaves(gradient)])
    geometry = state.quantum_geometric_tensor()
    print(type(geometry).__name__, "trace", f"{geometry.to_dense().trace():.8f}")
    minimize(
        "vmc",
        state,
        hamiltonian,
        exact,
        30,
        0.05,
        preconditioner=nk.optimizer.SR(diag_shift=0.01),
    )
    show_state("trained", state, observables)

    pairs = nk.vqs.MCState(
        nk.sampler.MetropolisExchange(space, graph=graph, n_chains=8),
        Jastrow(),
        n_samples=128,
        seed=5,
        sampler_seed=6,
    )
    log = minimize("jastrow", pairs, hamiltonian, exact, 10, 0.02)
    log.serialize("log.json")
    with open("log.json") as file:
        print("kept", {k: sorted(v) for k, v in json.load(file).items()})

    whole = nk.vqs.FullSumState(space, nk.models.RBM(alpha=1, param_dtype=float), seed=7)
    print("sum over all states", whole.expect(hamiltonian))
    whole.variables = state.variables
    vector = whole.to_array()
    print("vector", vector.shape, f"{np.linalg.norm(vector):.10f}", np.abs(vector[:4]))
    print("energy of it", whole.expect(hamiltonian), "of the samples", state.expect(hamiltonian))
    print("exact", f"{exact:.10f}")


if __name__ == "__main__":
    main()
