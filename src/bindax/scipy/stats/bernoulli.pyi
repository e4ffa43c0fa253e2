from bindax_scipy.stats.bernoulli import *
