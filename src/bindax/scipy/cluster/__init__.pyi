from bindax_scipy.cluster import *
