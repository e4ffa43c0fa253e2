"""Jaxprs as text: written, and read with nothing in the text trusted."""
