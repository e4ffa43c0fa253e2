"""Mutation: rules damaged one at a time, to see whether the checks and the samples notice."""
