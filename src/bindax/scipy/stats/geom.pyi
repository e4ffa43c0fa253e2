from bindax_scipy.stats.geom import *
