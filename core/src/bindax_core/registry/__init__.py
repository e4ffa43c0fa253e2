"""Rule tables, cards, provenance, discovery of plugins; private, see ``bindax_core.extend``."""
