from bindax_scipy.stats.chi2 import *
