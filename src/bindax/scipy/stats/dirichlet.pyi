from bindax_scipy.stats.dirichlet import *
