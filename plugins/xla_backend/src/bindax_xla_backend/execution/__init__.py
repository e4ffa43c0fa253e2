"""Compilation of StableHLO modules, and calls of what XLA has compiled."""
