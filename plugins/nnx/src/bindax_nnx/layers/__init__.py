"""Layers: modules for models."""
