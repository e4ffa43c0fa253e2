"""Rule tables, cards, provenance and the discovery of plugins; private, see ``bindax_core.extend``."""
