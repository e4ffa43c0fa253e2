"""Random bits from counters, and uniform random numbers from a compiler."""
