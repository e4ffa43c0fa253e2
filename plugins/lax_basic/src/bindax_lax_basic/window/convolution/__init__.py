"""Convolution: dimension numbers, the primitive, how NumPy evaluates it, patches."""
