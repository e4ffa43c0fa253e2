from bindax_scipy.stats.gennorm import *
