from bindax_scipy.cluster.vq import *
