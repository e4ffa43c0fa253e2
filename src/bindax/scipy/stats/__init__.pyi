from bindax_scipy.stats import *
