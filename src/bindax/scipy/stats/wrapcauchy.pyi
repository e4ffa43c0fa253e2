from bindax_scipy.stats.wrapcauchy import *
