from bindax_scipy.stats.logistic import *
