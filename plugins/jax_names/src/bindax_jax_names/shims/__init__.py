"""Names of JAX that bindax spells another way, one module for each module of JAX."""
