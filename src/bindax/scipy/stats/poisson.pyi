from bindax_scipy.stats.poisson import *
