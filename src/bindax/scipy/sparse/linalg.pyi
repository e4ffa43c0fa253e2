from bindax_scipy.sparse.linalg import *
