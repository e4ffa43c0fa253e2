from bindax_scipy.ndimage import *
