"""Names of JAX."""
