"""Checks of backends: they compute what the primitives mean, and keep the contract of backends."""
