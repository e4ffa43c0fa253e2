from bindax_scipy.stats.multivariate_normal import *
