"""Solvers whose derivatives come from the equation that they solve."""
