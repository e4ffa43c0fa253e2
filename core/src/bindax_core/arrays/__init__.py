"""The runtime: arrays, their operators, backends and settings."""
