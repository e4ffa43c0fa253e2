from bindax_scipy.stats.norm import *
