from bindax_scipy.signal import *
