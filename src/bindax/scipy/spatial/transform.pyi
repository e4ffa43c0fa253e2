from bindax_scipy.spatial.transform import *
