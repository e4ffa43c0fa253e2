"""Manifest, loading, conflicts and provenance of plugins; private, see ``bindax_core.extend``."""
