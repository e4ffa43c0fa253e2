from bindax_scipy.stats.binom import *
