"""The checks of container types."""
