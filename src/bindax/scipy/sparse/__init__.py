"""Linear systems given by functions."""

from bindax.scipy.sparse import linalg as linalg

__all__ = ["linalg"]
