from bindax_scipy.stats.cauchy import *
