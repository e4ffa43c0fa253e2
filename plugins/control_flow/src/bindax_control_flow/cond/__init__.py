"""Conditionals: one of several functions, chosen at run time."""
