from bindax_scipy.stats.expon import *
