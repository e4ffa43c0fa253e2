"""Faster code for bindax, in C: flattening, unflattening, and calls of compiled functions.

Installing the package is all that there is to do; it has no functions for programs.
"""
