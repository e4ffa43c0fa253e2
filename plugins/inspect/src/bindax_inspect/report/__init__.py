"""Reports of programs."""
