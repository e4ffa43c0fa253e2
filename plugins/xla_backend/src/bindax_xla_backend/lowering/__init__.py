"""Lowering of jaxprs to StableHLO modules."""
