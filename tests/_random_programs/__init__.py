"""Random programs: typed steps, transformations around them, and how far results may differ."""
