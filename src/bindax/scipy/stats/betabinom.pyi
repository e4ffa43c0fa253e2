from bindax_scipy.stats.betabinom import *
