"""Loops of a known length, over sequences."""
