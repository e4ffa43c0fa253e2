"""The transformations of bindax for functions of objects."""
