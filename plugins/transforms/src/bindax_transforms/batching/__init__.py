"""Batching: ``vmap``."""
