"""Devices in a mesh, and how arrays lie on them: data that every backend can read."""
