from bindax_scipy.stats.truncnorm import *
