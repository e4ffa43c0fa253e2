"""The ground state of an Ising chain with netket, by sampling."""

import jax
import netket as nk
import optax


def main():
    graph = nk.graph.Chain(length=6, pbc=True)
    space = nk.hilbert.Spin(s=0.5, N=6)
    hamiltonian = nk.operator.IsingJax(space, graph=graph, h=0.8)
    state = nk.vqs.MCState(
        nk.sampler.MetropolisLocal(space, n_chains=8),
        nk.models.RBM(alpha=1, param_dtype=float),
        n_samples=128,
        seed=1,
        sampler_seed=2,
    )
    driver = nk.driver.VMC(
        hamiltonian,
        optax.sgd(0.05),
        variational_state=state,
        preconditioner=nk.optimizer.SR(diag_shift=0.05),
    )
    log = nk.logging.RuntimeLog()
    driver.run(4, out=log, show_progress=False)
    energies = log.data["Energy"]["Mean"].real
    return energies, jax.tree.map(abs, state.parameters), hamiltonian.to_dense().sum()
