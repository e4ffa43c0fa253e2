"""Checks of functions: what is transformed is compared with what is computed."""
