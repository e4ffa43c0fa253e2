from bindax_scipy.stats.t import *
