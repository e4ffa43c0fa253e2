"""Loops of a length that is known when they end, and over ranges of integers."""
