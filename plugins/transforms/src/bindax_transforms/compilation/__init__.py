"""Compilation: ``jit``, its primitive and its cache."""
