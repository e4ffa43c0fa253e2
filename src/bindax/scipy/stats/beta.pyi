from bindax_scipy.stats.beta import *
