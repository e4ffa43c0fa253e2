from bindax_scipy.optimize import *
