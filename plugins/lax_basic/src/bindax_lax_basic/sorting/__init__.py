"""Sorting along an axis, and the largest elements."""
