from bindax_scipy.integrate import *
