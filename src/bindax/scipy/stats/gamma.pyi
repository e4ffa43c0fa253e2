from bindax_scipy.stats.gamma import *
