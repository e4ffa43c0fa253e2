"""Parts that conditionals, loops and solvers share."""
