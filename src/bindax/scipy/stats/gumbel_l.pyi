from bindax_scipy.stats.gumbel_l import *
