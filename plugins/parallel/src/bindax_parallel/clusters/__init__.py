"""Clusters that tell a process where the others of its computation are."""
