from bindax_scipy.spatial import *
