from bindax_scipy.image import *
