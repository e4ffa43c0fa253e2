"""Special functions as programs of elementary ones, evaluated by NumPy and lowered to XLA alike."""
