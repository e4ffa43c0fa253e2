"""Platforms beside the CPU: PJRT plugins and kernels of other languages."""
