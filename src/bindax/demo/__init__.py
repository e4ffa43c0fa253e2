"""The program behind `bindax demo`: a small network learns to read handwritten digits.

Read `classifier` first: it is the whole method, in functions of one example that `grad`, `vmap` and
`jit` turn into training. `digits` loads the data, `program` runs and reports, `picture` draws: with
matplotlib, which the extra ``bindax[demo]`` installs.
"""
