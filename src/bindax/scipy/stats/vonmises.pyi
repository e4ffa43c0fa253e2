from bindax_scipy.stats.vonmises import *
