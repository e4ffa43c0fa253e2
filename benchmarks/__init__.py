"""Bindax beside JAX, measured in one run: `uv run python -m benchmarks`.

Each module of cases has a function `cases()`. A case is one task done by both libraries; its
samples are taken in turn, in one process where that is possible, so that whatever else the machine
does meets both alike. What counts is the ratio of the medians.
"""
