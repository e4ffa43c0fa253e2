from bindax_scipy.ode import *
