from bindax_scipy.stats.multinomial import *
