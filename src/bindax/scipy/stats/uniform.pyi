from bindax_scipy.stats.uniform import *
