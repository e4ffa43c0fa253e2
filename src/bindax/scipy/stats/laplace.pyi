from bindax_scipy.stats.laplace import *
