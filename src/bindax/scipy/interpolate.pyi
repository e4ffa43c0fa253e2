from bindax_scipy.interpolate import *
