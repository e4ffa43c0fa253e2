"""Values for the eye: short text, trees for ``rich``, and HTML for notebooks."""
