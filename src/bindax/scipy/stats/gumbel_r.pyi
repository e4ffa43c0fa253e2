from bindax_scipy.stats.gumbel_r import *
