"""Checks of transformations: what interprets a function agrees with the function."""
