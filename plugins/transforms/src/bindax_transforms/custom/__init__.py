"""Functions with rules of their own: ``custom_jvp``, ``custom_vjp``, ``custom_vmap``."""
