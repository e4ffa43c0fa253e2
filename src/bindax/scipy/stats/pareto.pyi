from bindax_scipy.stats.pareto import *
