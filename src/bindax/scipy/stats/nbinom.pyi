from bindax_scipy.stats.nbinom import *
