"""Costs of equations: operations, and bytes that are read and written."""
