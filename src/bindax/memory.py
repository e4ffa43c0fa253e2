"""Memories of devices: ``Space`` names one for arrays wherever they lie."""

from bindax_core.sharding import Space

__all__ = ["Space"]
