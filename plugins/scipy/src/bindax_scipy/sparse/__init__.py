"""Linear systems given by functions."""

from bindax_scipy.sparse import linalg as linalg
