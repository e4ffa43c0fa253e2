from bindax_scipy.special import *
