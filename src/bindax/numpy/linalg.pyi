from bindax_numpy.linalg import *
