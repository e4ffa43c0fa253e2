"""The memory of programs: what is alive when."""
