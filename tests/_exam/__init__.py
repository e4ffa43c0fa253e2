"""Functions with mistakes that people make, and right ones, on which verdicts are tested."""
