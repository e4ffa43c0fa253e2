from bindax_scipy.linalg import *
