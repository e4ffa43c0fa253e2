"""Programs as numbered equations, with the lines that they come from."""
