"""Products of arrays: dot_general, its precision, ragged and scaled products."""
