"""Denoising by total variation with scico."""

import numpy as np
import scico.numpy as snp
from scico import functional, linop, loss
from scico.optimize.admm import ADMM, LinearSubproblemSolver


def main():
    y = np.zeros((12, 12), np.float32)
    y[3:8, 4:9] = 1
    y = snp.array(y + 0.1 * np.random.default_rng(1).normal(size=y.shape).astype(np.float32))
    difference = linop.FiniteDifference(y.shape, append=0)
    solver = ADMM(
        f=loss.SquaredL2Loss(y=y),
        g_list=[0.2 * functional.L21Norm()],
        C_list=[difference],
        rho_list=[1.0],
        x0=y,
        maxiter=8,
        subproblem_solver=LinearSubproblemSolver(cg_kwargs={"tol": 1e-4, "maxiter": 20}),
    )
    return solver.solve(), difference.adj(difference(y))
